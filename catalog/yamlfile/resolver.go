package yamlfile

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/resolve"
)

// kind is one kind of resolver: the fields that it has, and how it is made
// from them.
type kind struct {
	name   string
	fields []string
	make   func(r *reader, c resolver, field string) (resolve.Resolver, error)
}

// kinds are all kinds, by name.
var kinds = []kind{
	{"email", []string{"domains"}, makeEmail},
	{"instant", []string{"precision", "notBefore", "notAfter"}, makeInstant},
	{"money", []string{"currency", "aliases", "fold", "exactDigits"}, makeMoney},
	{"path", []string{"roots", "relativeTo", "create"}, makePath},
	{"quantity", []string{"dimension", "base", "unit", "units"}, makeQuantity},
	{"table", []string{"file", "rows", "url", "networks", "auth", "ca", "sqlite", "postgres", "query", "refresh", "fold", "integer", "pass"}, makeTable},
	{"url", []string{"schemes", "hosts", "ports", "networks"}, makeURL},
}

func (r *reader) resolver(name string, c resolver) {
	field := join("resolvers", name)
	var names []string
	at := -1
	for i, k := range kinds {
		names = append(names, k.name)
		if k.name == c.Kind {
			at = i
		}
	}
	if at < 0 {
		r.wrong(join(field, "kind"), "must be one of %s", strings.Join(names, ", "))
		return
	}
	r.foreign(kinds[at], field)
	made, err := kinds[at].make(r, c, field)
	if err != nil {
		r.wrong(field, "%v", err)
		return
	}
	r.resolvers[name] = made
}

// foreign notes fields that only other kinds have: a setting that does nothing
// would be taken for one that works.
func (r *reader) foreign(own kind, field string) {
	noted := map[string]bool{}
	for _, k := range kinds {
		for _, f := range k.fields {
			if !noted[f] && !slices.Contains(own.fields, f) && r.line(join(field, f)) != nil {
				noted[f] = true
				r.wrong(join(field, f), "is for %s, not for %s", k.name, own.name)
			}
		}
	}
}

func makeEmail(_ *reader, c resolver, _ string) (resolve.Resolver, error) {
	return resolve.NewEmail(resolve.EmailOptions{Domains: c.Domains})
}

func makeInstant(_ *reader, c resolver, _ string) (resolve.Resolver, error) {
	opt := resolve.InstantOptions{Precision: c.Precision}
	for _, bound := range []struct {
		name, text string
		at         *time.Time
	}{{"notBefore", c.NotBefore, &opt.NotBefore}, {"notAfter", c.NotAfter, &opt.NotAfter}} {
		if bound.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, bound.text)
		if err != nil {
			return nil, fmt.Errorf("%s must be a time such as 2026-01-01T00:00:00Z", bound.name)
		}
		*bound.at = at
	}
	return resolve.NewInstant(opt)
}

func makeMoney(_ *reader, c resolver, _ string) (resolve.Resolver, error) {
	return resolve.NewMoney(resolve.MoneyOptions{Currency: c.Currency, Aliases: c.Aliases, Fold: c.Fold, ExactDigits: c.ExactDigits})
}

// makePath finds roots from the folder of the file, as it finds files.
func makePath(r *reader, c resolver, _ string) (resolve.Resolver, error) {
	opt := resolve.PathOptions{Create: c.Create}
	for _, root := range c.Roots {
		at, err := r.folder(root)
		if err != nil {
			return nil, err
		}
		opt.Roots = append(opt.Roots, at)
	}
	if c.RelativeTo != "" {
		at, err := r.folder(c.RelativeTo)
		if err != nil {
			return nil, err
		}
		opt.Base = at
	}
	return resolve.NewPath(opt)
}

func (r *reader) folder(name string) (string, error) {
	if name == "" {
		return "", errors.New("a folder has a name")
	}
	return filepath.Abs(r.path(name))
}

func makeQuantity(_ *reader, c resolver, _ string) (resolve.Resolver, error) {
	return resolve.NewQuantity(resolve.QuantityOptions{Dimension: c.Dimension, Base: c.Base, Unit: c.Unit, Units: c.Units})
}

func makeURL(_ *reader, c resolver, _ string) (resolve.Resolver, error) {
	listed, err := networks(c.Networks)
	if err != nil {
		return nil, err
	}
	return resolve.NewURL(resolve.URLOptions{Schemes: c.Schemes, Hosts: c.Hosts, Ports: c.Ports, Networks: listed})
}

func networks(texts []string) (out []netip.Prefix, err error) {
	for _, text := range texts {
		n, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("network %q is not in the form 10.1.0.0/16", text)
		}
		out = append(out, n)
	}
	return out, nil
}
