package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/policy"
)

// explainOptions say who would call, and under which rules.
type explainOptions struct {
	catalog, policy                 string
	agent, principal, tenant, owner string
	roles, taint                    []string
}

func explainCommand(s streams) *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "explain TOOL [JSON|-]",
		Short: "Show what would become of a call, without calling",
		Long: "Walk one call up to the decision: what was requested and what would run, each\nchange, the canonical bytes, the hash, the targets, the decision and the rule.\nNothing runs and nothing is recorded; no daemon is needed.\n\n" +
			"The exit code says what would happen: 0 allowed, 3 denied or refused, 4 approval.",
		Example: "  verbatim explain bank.transfer '{\"vendor\":\"Vendor A\",\"amount\":\"8.4 thousand USD\"}'",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			raw, absent, err := argument(s, args, 1)
			if err != nil {
				return err
			}
			return explain(cmd, s, o, verbatim.Call{Tool: args[0], Arguments: raw, ArgumentsAbsent: absent})
		},
	}
	c.Flags().StringVar(&o.catalog, "catalog", "", "catalog file (default: of the home's configuration)")
	c.Flags().StringVar(&o.policy, "policy", "", "policy file or directory (default: of the home's configuration)")
	c.Flags().StringVar(&o.agent, "agent", "", "agent that proposes (default: of the configuration)")
	c.Flags().StringVar(&o.principal, "principal", "", "whose authority the call carries (default: this user)")
	c.Flags().StringVar(&o.owner, "owner", "", "who owns the agent session (default: the principal)")
	c.Flags().StringVar(&o.tenant, "tenant", localTenant, "tenant of the session")
	c.Flags().StringSliceVar(&o.roles, "roles", nil, "roles of the principal")
	c.Flags().StringSliceVar(&o.taint, "taint", nil, "taint labels of the session")
	return c
}

func explain(cmd *cobra.Command, s streams, o explainOptions, call verbatim.Call) error {
	known, err := o.known()
	if err != nil {
		return err
	}
	session, err := o.session(known.agent)
	if err != nil {
		return err
	}
	gate, err := verbatim.New(verbatim.Config{Store: clockStore{}, Tools: known, Policy: known.engine, Approvers: ownerApproves()})
	if err != nil {
		return err
	}
	e, err := gate.Explain(cmd.Context(), session, call)
	if err != nil {
		return err
	}
	tool, _ := known.find(call.Tool)
	return printExplanation(cmd, s, explained{session: session, call: call, tool: tool, walk: e})
}

// offline is a catalog with its policy, read from files; nothing in it runs.
type offline struct {
	catalog *catalog.Catalog
	engine  *livePolicy
	seen    seen
	agent   string
}

// known loads the files that were named, and those of the home for the rest.
func (o explainOptions) known() (*offline, error) {
	k := &offline{engine: &livePolicy{}, agent: o.agent}
	if err := o.fromHome(k); err != nil {
		return nil, err
	}
	var err error
	if k.catalog, err = loadCatalog(o.catalog); err != nil {
		return nil, err
	}
	return k, k.engine.replace(o.policy, k.catalog)
}

// fromHome completes what was not named. A file that was named must exist:
// its absence must not mean an empty catalog or the built-in policy.
func (o *explainOptions) fromHome(k *offline) error {
	for _, path := range []string{o.catalog, o.policy} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	if o.catalog != "" && o.policy != "" && k.agent != "" {
		return nil
	}
	home, cfg, err := configured("")
	if err != nil {
		return err
	}
	if o.catalog == "" {
		o.catalog = cfg.Catalog
		k.seen = seen{home.Path("seen")}
	}
	if o.policy == "" {
		o.policy = cfg.Policy
	}
	if k.agent == "" {
		k.agent = cfg.Agent
	}
	return nil
}

func (o explainOptions) session(agent string) (verbatim.Session, error) {
	s := verbatim.Session{Tenant: o.tenant, Principal: o.principal, Owner: o.owner, Agent: agent, Roles: o.roles, Taint: o.taint}
	if s.Principal == "" {
		_, principal, err := localPrincipal()
		if err != nil {
			return s, err
		}
		s.Principal = principal
	}
	if s.Owner == "" {
		s.Owner = s.Principal
	}
	return s, s.Validate()
}

// find returns a catalogued tool, or one that was listed through the gateway
// before.
func (k *offline) find(name string) (*catalog.Tool, bool) {
	if t, ok := k.catalog.Tool(name); ok {
		return t, true
	}
	if k.seen.dir == "" {
		return nil, false
	}
	t, ok, err := k.seen.find(name)
	return t, ok && err == nil
}

// Tool makes an offline set the tools of a gate that never runs anything.
func (k *offline) Tool(name string) (verbatim.Bound, bool) {
	t, ok := k.find(name)
	return verbatim.Bound{Tool: t}, ok
}

// clockStore is all that an explanation asks of a store: the time. Anything
// else would be a mistake of this program, and ends it.
type clockStore struct{ verbatim.Store }

func (clockStore) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// exitCode is what the decision means to a script.
func exitCode(e verbatim.Explanation) int {
	switch {
	case e.Stage != "":
		return exitDenied
	case e.Decision.Effect == policy.Allow:
		return exitOK
	case e.Decision.Effect == policy.RequireApproval:
		return exitApproval
	default:
		return exitDenied
	}
}

// noteUnknown tells people why a tool is unknown here.
func noteUnknown(s streams, e verbatim.Explanation) {
	if e.Code == verbatim.CodeUnknownTool {
		fmt.Fprintln(s.err, "hint: neither the catalog nor an earlier listing knows this tool; names are server.tool")
	}
}

// codeOf turns an exit code into the error that carries it.
func codeOf(code int) error {
	if code == exitOK {
		return nil
	}
	return ended(code)
}
