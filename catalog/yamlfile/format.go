package yamlfile

import "go.yaml.in/yaml/v3"

// format is one catalog file.
type format struct {
	Version   string              `yaml:"version"`
	Resolvers map[string]resolver `yaml:"resolvers"`
	Limits    map[string]limit    `yaml:"limits"`
	Tools     map[string]tool     `yaml:"tools"`
}

// formatVersion is the only version so far. It is a string, so that later
// ones can be told apart without doubt.
const formatVersion = "1"

type resolver struct {
	Kind string `yaml:"kind"`

	File    string     `yaml:"file"` // table
	Rows    *yaml.Node `yaml:"rows"`
	Fold    bool       `yaml:"fold"`
	Integer bool       `yaml:"integer"`
	URL     string     `yaml:"url"`
	Refresh string     `yaml:"refresh"`
	SQLite  string     `yaml:"sqlite"`
	Query   string     `yaml:"query"`
	Pass    string     `yaml:"pass"`

	Auth     *header `yaml:"auth"` // of a table behind a URL
	CA       *secret `yaml:"ca"`
	Postgres *secret `yaml:"postgres"`

	Currency    string            `yaml:"currency"` // money
	Aliases     map[string]string `yaml:"aliases"`
	ExactDigits bool              `yaml:"exactDigits"`

	Dimension string            `yaml:"dimension"` // quantity
	Base      string            `yaml:"base"`
	Unit      string            `yaml:"unit"`
	Units     map[string]string `yaml:"units"`

	Roots      []string `yaml:"roots"` // path
	RelativeTo string   `yaml:"relativeTo"`
	Create     bool     `yaml:"create"`

	Schemes  []string `yaml:"schemes"` // url
	Hosts    []string `yaml:"hosts"`
	Ports    []uint16 `yaml:"ports"`
	Networks []string `yaml:"networks"`

	Domains []string `yaml:"domains"` // email

	Precision string `yaml:"precision"` // instant
	NotBefore string `yaml:"notBefore"`
	NotAfter  string `yaml:"notAfter"`
}

// secret says where a text stands that is never written in a catalog.
type secret struct {
	Env  string `yaml:"env"`
	File string `yaml:"file"`
}

// header is a header of HTTP with a secret in it.
type header struct {
	Name string `yaml:"header"`
	Env  string `yaml:"env"`
	File string `yaml:"file"`
}

type tool struct {
	Title       string      `yaml:"title"`
	Description string      `yaml:"description"`
	Sentence    string      `yaml:"sentence"`
	Definition  *definition `yaml:"definition"`

	Schema             *yaml.Node `yaml:"schema"`
	SchemaFile         string     `yaml:"schemaFile"`
	ProposalSchema     *yaml.Node `yaml:"proposalSchema"`
	ProposalSchemaFile string     `yaml:"proposalSchemaFile"`
	Normalize          normalize  `yaml:"normalize"`
	CaseTwins          string     `yaml:"caseTwins"`

	Mutation  *bool    `yaml:"mutation"`
	Impact    string   `yaml:"impact"`
	Reason    string   `yaml:"reason"`
	Effect    string   `yaml:"effect"`
	Retention string   `yaml:"retention"`
	Errors    string   `yaml:"errors"`
	Timeout   string   `yaml:"timeout"`
	Groups    []string `yaml:"groups"`

	Resolve  []rule   `yaml:"resolve"`
	Identity []mark   `yaml:"identity"`
	Targets  []target `yaml:"targets"`
	DryRun   *dryRun  `yaml:"dryRun"`
	Lookup   *lookup  `yaml:"lookup"`
	Secrets  []string `yaml:"secrets"`
	Limits   []counts `yaml:"limits"`
	Converts bool     `yaml:"converts"`
	Bounds   []string `yaml:"bounds"`
}

// limit is one limit. Numbers are pointers: what is not said is not 0.
type limit struct {
	Window  string           `yaml:"window"`
	Per     []string         `yaml:"per"`
	Calls   *int64           `yaml:"calls"`
	Amount  *int64           `yaml:"amount"`
	Amounts map[string]int64 `yaml:"amounts"`
}

// counts says what of a tool's runs counts against a limit; one string counts
// calls.
type counts struct {
	Use      string `yaml:"use"`
	Amount   string `yaml:"amount"`
	Currency string `yaml:"currency"`
}

func (c *counts) short(text string) { *c = counts{Use: text} }

type definition struct {
	SHA256 string `yaml:"sha256"`
	Raw    string `yaml:"raw"`
	File   string `yaml:"file"`
}

type normalize struct {
	NullMeansAbsent bool        `yaml:"nullMeansAbsent"`
	Coerce          bool        `yaml:"coerce"`
	Unknown         string      `yaml:"unknown"`
	Transforms      []transform `yaml:"transforms"`
}

type transform struct {
	At    string `yaml:"at"`
	Apply string `yaml:"apply"`
}

type rule struct {
	Use  string   `yaml:"use"`
	From pointers `yaml:"from"`
	Into pointers `yaml:"into"`
}

// pointers are members by role; one string is the role "value".
type pointers map[string]string

func (p *pointers) short(text string) { *p = pointers{"value": text} }

type mark struct {
	At    string `yaml:"at"`
	Names string `yaml:"names"`
	Fill  bool   `yaml:"fill"`
}

type target struct {
	Type string `yaml:"type"`
	At   string `yaml:"at"`
}

type lookup struct {
	Tool      string            `yaml:"tool"`
	Arguments map[string]string `yaml:"arguments"`
	At        string            `yaml:"at"`
	Is        []string          `yaml:"is"`
}

type dryRun struct {
	Argument string   `yaml:"argument"`
	Tool     string   `yaml:"tool"`
	Required *bool    `yaml:"required"`
	Recheck  bool     `yaml:"recheck"`
	Compare  []string `yaml:"compare"`
	Timeout  string   `yaml:"timeout"`
}
