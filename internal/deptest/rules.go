package deptest

// Rules are what a tree is checked against.
type Rules struct {
	Bans      []Ban      // within the module
	Closed    []Closed   // packages that may import a short list only
	Lean      Lean       // what an embedder pays for
	Libraries []Library  // who may import which library outside of tests
	Calls     []Call     // functions that only some may use
	Names     []string   // names that no package may have
	Reviewed  []Reviewed // uses of Calls that a person looked at
}

// Ban says that packages must not import others of the module.
type Ban struct {
	From, To []string // patterns
	Because  string
}

// Closed says that a package imports nothing of the module but a list.
type Closed struct {
	Package string
	Only    []string
	Because string
}

// Lean says that a package, with all of the module that it pulls in, imports
// the standard library only, with exceptions by package.
type Lean struct {
	Root       string
	Exceptions map[string][]string // package to import paths
}

// Library says which packages may import a library. None means tests only.
type Library struct {
	Path string // the library and all below it
	By   []string
}

// Call says that a function may be used by some packages only.
type Call struct {
	Package  string // import path
	Function []string
	By       []string // patterns; tests always may
	Because  string
}

// Reviewed is one use of a restricted function that was looked at.
type Reviewed struct {
	File, Function, Because string
}

const module = "github.com/seed-de4804fb/verbatim"

// Verbatim returns the rules of this module. docs/decisions/0001-layout.md
// says why it is cut this way.
func Verbatim() Rules {
	return Rules{
		Bans:   bans(),
		Closed: closed(),
		Lean: Lean{Root: ".", Exceptions: map[string][]string{
			"schema":   {"golang.org/x/text/unicode/norm", "golang.org/x/net/idna"},
			"resolve":  {"github.com/cockroachdb/apd/v3", "golang.org/x/text/unicode/norm", "golang.org/x/net/idna"},
			"identity": {"golang.org/x/text/unicode/norm"},
			"catalog":  {"golang.org/x/text/unicode/norm", "golang.org/x/net/idna"},
			"audit":    {"golang.org/x/mod/sumdb/note", "golang.org/x/mod/sumdb/tlog"},

			"internal/lookalike": {"golang.org/x/text/unicode/norm"},
		}},
		Libraries: libraries(),
		Calls:     calls(),
		Names:     []string{"util", "utils", "common", "helper", "helpers", "manager", "service", "impl", "misc"},
		Reviewed:  reviewed(),
	}
}

func bans() []Ban {
	return []Ban{
		{[]string{"execute/..."}, []string{"schema/...", "resolve/...", "policy/...", "approval/...", "decode/..."},
			"the schema is parsed once and running is not deciding: execute takes a permit and cannot make one"},
		{[]string{"policy"}, []string{"decode/...", "schema/...", "resolve/..."},
			"policy sees only a view of the frozen snapshot"},
		{[]string{"policy/..."}, []string{"decode/..."},
			"an engine never reads raw arguments"},
		{[]string{"approval/..."}, []string{"schema/...", "resolve/...", "decode/..."},
			"a suspended proposal reuses the evaluated bytes"},
		{[]string{"web/...", "mcp/...", "api/..."}, []string{"store/..."},
			"edges go through the gate; there is no side door"},
		{[]string{"canon", "decode", "schema", "resolve", "identity", "snapshot", "policy", "approval", "execute", "audit", "action", "catalog"},
			[]string{".", "store/...", "web/...", "mcp/...", "api/...", "auth/...", "cmd/...", "internal/config/..."},
			"a step knows nothing of what drives it"},
		{[]string{"."}, []string{"store/...", "web/...", "mcp/...", "api/...", "auth/...", "cmd/...", "policy/cedar/...", "internal/config/..."},
			"the gate is composed by its user; it names no store, engine or edge"},
		{[]string{"store/..."}, []string{"decode/...", "schema/...", "resolve/...", "policy/...", "execute/...", "web/...", "mcp/...", "api/...", "cmd/..."},
			"a store keeps facts; it neither decides nor runs"},
	}
}

func closed() []Closed {
	verifiable := "evidence must be verifiable without the engine"
	return []Closed{
		{"audit", []string{"canon", "keys"}, verifiable},
		{"warrant", []string{"canon", "keys"}, verifiable},
		{"warrant/uses", []string{"warrant"}, verifiable},
		{"canon", nil, "everything stands on it"},
		{"internal/permit", nil, "a permit is plain data"},
		{"action", []string{"canon", "snapshot"}, "vocabulary lies below the steps that share it"},
	}
}

// libraries is the closed list of what product code imports from others. A
// library that is not here, or is here for nobody, is for tests.
func libraries() []Library {
	return []Library{
		{"github.com/cedar-policy/cedar-go", []string{"policy/cedar/..."}},
		{"github.com/anishathalye/porcupine", []string{"store/storetest"}},
		{"github.com/cockroachdb/apd/v3", []string{"resolve"}},
		{"github.com/coreos/go-oidc/v3", []string{"auth/idp"}},
		{"github.com/chromedp/chromedp", []string{"internal/newcomertest"}}, // drives a page for tests
		{"github.com/go-jose/go-jose/v4", []string{"internal/idptest"}},     // a provider for tests
		{"github.com/go-webauthn/webauthn", []string{"auth/passkey"}},
		{"github.com/ncruces/go-sqlite3", []string{"store/sqlite/...", "catalog/sqltable"}},
		{"github.com/spf13/cobra", []string{"cmd/..."}},
		{"github.com/jackc/pgx/v5", []string{"store/postgres/...", "catalog/pgtable", "internal/pgtest"}},
		{"github.com/modelcontextprotocol/go-sdk", []string{"internal/demo"}}, // its bank and its agent
		{"github.com/google/go-cmp", []string{"store/storetest"}},
		{"go.yaml.in/yaml/v3", []string{"catalog/yamlfile", "catalog/openapi", "internal/config/..."}},
		{"go.opentelemetry.io", []string{"internal/telemetry"}},
		{"google.golang.org/protobuf", []string{"internal/telemetry"}},
		{"golang.org/x/crypto", []string{"auth/..."}},
		{"golang.org/x/mod", []string{"audit", "internal/daemon"}},
		{"golang.org/x/net/idna", []string{"schema", "resolve", "catalog"}},
		{"golang.org/x/oauth2", []string{"auth/idp"}},
		{"golang.org/x/sys", []string{"cmd/...", "internal/..."}},
		{"golang.org/x/term", []string{"cmd/..."}},
		{"golang.org/x/text", []string{"auth/...", "schema", "resolve", "identity", "catalog", "web/...", "internal/lookalike"}},
		{"pgregory.net/rapid", []string{"store/storetest"}},
	}
}

func calls() []Call {
	decoding := "it takes the last of duplicate names, folds case and repairs text; untrusted JSON goes through canon or decode"
	return []Call{
		{module + "/internal/permit", []string{"Issue"}, []string{"."}, "nothing but the gate may start a run"},
		{"encoding/json", []string{"Unmarshal", "NewDecoder", "Decoder"}, nil, decoding},
		{"encoding/json/v2", []string{"Unmarshal", "UnmarshalRead", "UnmarshalDecode"}, nil, decoding},
		{"context", []string{"WithValue"}, nil, "security facts are parameters, never context values"},
	}
}

// reviewed lists the uses of restricted functions that were looked at.
func reviewed() []Reviewed {
	return nil
}
