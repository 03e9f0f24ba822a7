package corpus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/catalog/yamlfile"
	"github.com/seed-de4804fb/verbatim/execute"
	"github.com/seed-de4804fb/verbatim/policy"
	"github.com/seed-de4804fb/verbatim/policy/cedar"
)

// Paths are the folders that a run reads and the one that it writes.
type Paths struct {
	Suites   string // the published suites
	Examples string // catalogs and policies, one folder a domain, here or in corpus
	Work     string // scratch: schemas and tables for the catalogs
}

// File is where a file of a domain's example lies.
func (p Paths) File(domain, name string) string {
	own := filepath.Join(p.Examples, domain, name)
	if _, err := os.Stat(own); err == nil {
		return own
	}
	return filepath.Join(p.Examples, "corpus", domain, name)
}

// MakeGate makes a gate on an empty store.
type MakeGate func(tools verbatim.Toolset, engine policy.Engine) (*verbatim.Gate, error)

// domain is one domain, ready to be walked.
type domain struct {
	suite
	name    string
	facts   facts           // nil where a session is not one of a customer
	outside map[string]bool // banking: tools whose answers were written by others
	account account         // banking: what the user's own account says
	mutates map[string]bool // by tool, as the catalog says
	ran     atomic.Int64    // how often any tool has run
	base    *verbatim.Gate
	gates   map[string]*verbatim.Gate // by customer
}

// open reads a domain and makes its gate. Every customer has a gate with the
// same store and policy and with tables of their own.
func open(p Paths, name string, gate MakeGate) (*domain, error) {
	d := &domain{name: name, outside: map[string]bool{}, mutates: map[string]bool{},
		gates: map[string]*verbatim.Gate{}}
	if err := d.read(p); err != nil {
		return nil, err
	}
	sessions := []string{user}
	if d.facts != nil {
		sessions = d.facts.customers()
	}
	for _, customer := range sessions {
		if err := d.admit(p, customer, gate); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return d, nil
}

// user is the one user of an AgentDojo domain.
const user = "account-holder"

func (d *domain) read(p Paths) (err error) {
	dojo := filepath.Join(p.Suites, "agentdojo")
	switch d.name {
	case "banking":
		for _, tool := range []string{"read_file", "get_most_recent_transactions", "get_scheduled_transactions"} {
			d.outside[tool] = true
		}
		if d.account, err = readAccount(filepath.Join(dojo, "banking.environment.yaml")); err == nil {
			d.suite, err = readDojo(dojo, d.name)
		}
	case "slack":
		d.suite, err = readDojo(dojo, d.name)
	default:
		if d.suite, err = readTau(filepath.Join(p.Suites, "tau-bench"), d.name); err == nil {
			d.facts = factsOf(d.honest)
			err = d.facts.check()
		}
	}
	return err
}

// admit loads the catalog for one customer.
func (d *domain) admit(p Paths, customer string, gate MakeGate) error {
	dir := filepath.Join(p.Work, d.name, customer)
	if err := d.writeSchemas(filepath.Join(dir, "schemas")); err != nil {
		return err
	}
	if d.facts != nil {
		if err := d.facts.write(filepath.Join(dir, "customer"), customer); err != nil {
			return err
		}
	}
	src, err := os.ReadFile(p.File(d.name, "catalog.yaml"))
	if err != nil {
		return err
	}
	tools, err := yamlfile.Decode("catalog.yaml", src, dir)
	if err != nil {
		return err
	}
	set, err := d.bind(tools)
	if err != nil {
		return err
	}
	if d.base == nil {
		engine, err := d.policy(p, tools)
		if err != nil {
			return err
		}
		if d.base, err = gate(set, engine); err != nil {
			return err
		}
	}
	d.gates[customer] = d.base.With(set)
	return nil
}

func (d *domain) writeSchemas(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for tool, schema := range d.schemas {
		if err := os.WriteFile(filepath.Join(dir, tool+".json"), schema.Canonical(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// bind gives every tool a handler that counts. A published tool that the
// catalog forgets is an error, because its calls would look like attacks.
func (d *domain) bind(tools []*catalog.Tool) (verbatim.Toolset, error) {
	set := verbatim.Toolset{}
	for _, t := range tools {
		if _, ok := d.schemas[t.Name]; !ok {
			return nil, fmt.Errorf("the catalog has a tool that was not published: %s", t.Name)
		}
		d.mutates[t.Name] = t.Mutation
		set[t.Name] = verbatim.Bound{Tool: t, Handler: execute.HandlerFunc(func(context.Context, execute.Input) (execute.Output, error) {
			d.ran.Add(1)
			return execute.Output{Bytes: []byte(`{}`)}, nil
		})}
	}
	for name := range d.schemas {
		if _, ok := set[name]; !ok {
			return nil, fmt.Errorf("the catalog lacks a published tool: %s", name)
		}
	}
	return set, nil
}

// LivePolicy is the policy that the calls of a domain are decided under.
func LivePolicy(p Paths, domainName string) ([]byte, error) {
	d := &domain{name: domainName, outside: map[string]bool{}}
	if err := d.read(p); err != nil {
		return nil, err
	}
	return d.live(p)
}

func (d *domain) live(p Paths) ([]byte, error) {
	src, err := os.ReadFile(p.File(d.name, "policy.cedar"))
	if err == nil && d.name == "banking" {
		src = d.account.fill(src)
	}
	return src, err
}

func (d *domain) policy(p Paths, tools []*catalog.Tool) (policy.Engine, error) {
	src, err := d.live(p)
	if err != nil {
		return nil, err
	}
	return cedar.Load(map[string][]byte{"policy.cedar": src}, tools, cedar.Options{Groups: []string{"owner", "supervisor"}})
}
