package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Lookup says how a queryable tool's provider is asked whether an attempt
// took effect, where no code of the host does it.
type Lookup struct {
	// Tool is the catalog name of a read tool, for a server's tool one of the
	// same server.
	Tool string
	// Arguments are its arguments: a member's name, and the pointer into the
	// frozen arguments that it is taken from, or ProviderKey. Together they
	// must single out the one attempt.
	Arguments map[string]string
	// At points into its result. The attempt took effect if one of Is stands
	// there; anything else says nothing.
	At string
	Is []string
}

// ProviderKey stands for the attempt's provider key in [Lookup.Arguments].
const ProviderKey = "$key"

// lookup checks the look-up of a tool.
func (d *draft) lookup() {
	l := d.spec.Lookup
	if l == nil {
		return
	}
	d.tool.Lookup = &Lookup{Tool: l.Tool, Arguments: maps.Clone(l.Arguments), At: l.At, Is: slices.Clone(l.Is)}
	if d.spec.Effect == "" || d.spec.Effect == Blind {
		d.fault("lookup: the effect must not be blind")
	}
	if l.Tool == "" || l.Tool == d.spec.Name {
		d.fault("lookup: tool must be another tool, one that only reads")
	}
	if server, _, found := strings.Cut(l.Tool, "."); d.spec.Server != "" && (!found || server != d.spec.Server) {
		d.fault("lookup: tool must be of the same server")
	}
	if len(l.Arguments) == 0 {
		d.fault("lookup: arguments must single out the attempt")
	}
	if _, ok := canon.SplitPointer(l.At); !ok || len(l.Is) == 0 {
		d.fault("lookup: at must be a JSON Pointer into the result, and is the texts that mean yes")
	}
}

// lookupArguments refuses arguments that the tool does not have.
func (d *draft) lookupArguments() {
	if d.spec.Lookup == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(d.spec.Lookup.Arguments)) {
		if from := d.spec.Lookup.Arguments[name]; from != ProviderKey {
			d.declared("lookup", d.tool.Own, from)
		}
	}
}

// Ask builds the arguments of the look-up for one attempt; false where a
// member that it takes is absent.
func (l *Lookup) Ask(args canon.Value, key string) (canon.Value, bool) {
	members := make([]canon.Member, 0, len(l.Arguments))
	for _, name := range slices.Sorted(maps.Keys(l.Arguments)) {
		v := canon.StringValue(key)
		if from := l.Arguments[name]; from != ProviderKey {
			var found bool
			if v, found = args.Lookup(from); !found {
				return canon.Value{}, false
			}
		}
		members = append(members, canon.Member{Name: name, Value: v})
	}
	return canon.ObjectValue(members...), true
}

// Yes reports whether a result says that the attempt took effect.
func (l *Lookup) Yes(result canon.Value) bool {
	v, found := result.Lookup(l.At)
	return found && v.Kind() == canon.String && slices.Contains(l.Is, v.Text())
}
