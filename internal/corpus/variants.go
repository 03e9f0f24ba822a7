package corpus

import (
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// variant is an honest call with something of another customer in it.
type variant struct {
	call  Call
	naked bool // the user, order or reservation itself; else something beside it
}

// trio is what names a customer without an id; it is swapped as a whole.
var trio = []string{"/first_name", "/last_name", "/zip"}

// variants are all wrong-customer forms of one call: one for each member that
// names something of the customer.
func (f facts) variants(customer string, c Call) []variant {
	var out []variant
	if _, ok := c.Args.Get("user_id"); ok {
		out = swapped(out, c, "/user_id", f.stranger(customer, ""), true)
	}
	for _, k := range kinds {
		if k.tool != "" && k.tool != c.Tool || slices.Contains(trio, k.at[0]) {
			continue
		}
		for _, at := range k.at {
			if own, ok := c.Args.Lookup(at); ok {
				out = swapped(out, c, at, f.other(customer, k.table, own.Text()), k.table == "orders" || k.table == "reservations")
			}
		}
	}
	if c.Tool == "find_user_id_by_name_zip" {
		out = append(out, f.impostor(customer, c))
	}
	return out
}

func swapped(out []variant, c Call, at, id string, naked bool) []variant {
	args, ok := c.Args.With(at, canon.StringValue(id))
	if !ok || id == "" {
		return out
	}
	c.Args = args
	return append(out, variant{call: c, naked: naked})
}

// other is a thing like own of the next customer who has one. It is of the
// same sort (a gift card for a gift card), so that nothing but its owner can
// be a reason to refuse it.
func (f facts) other(customer, table, own string) string {
	all := f.customers()
	at := slices.Index(all, customer)
	for i := 1; i < len(all); i++ {
		for _, id := range f[all[(at+i)%len(all)]][table] {
			if family(id) == family(own) && !slices.Contains(f[customer][table], id) {
				return id
			}
		}
	}
	return ""
}

// family is what stands before the number of an id, such as gift_card.
func family(id string) string {
	if at := strings.LastIndexByte(id, '_'); at > 0 {
		return id[:at]
	}
	return ""
}

// impostor looks up another customer by name and zip.
func (f facts) impostor(customer string, c Call) variant {
	other := f[f.stranger(customer, "zips")]
	for i, table := range []string{"first_names", "last_names", "zips"} {
		if args, ok := c.Args.With(trio[i], canon.StringValue(other[table][0])); ok {
			c.Args = args
		}
	}
	return variant{call: c}
}

// stranger is the next customer who has something in a table; any, if the
// table is "".
func (f facts) stranger(customer, table string) string {
	all := f.customers()
	at := slices.Index(all, customer)
	for i := 1; i < len(all); i++ {
		other := all[(at+i)%len(all)]
		if table == "" || len(f[other][table]) > 0 && !slices.Contains(f[customer][table], f[other][table][0]) {
			return other
		}
	}
	return ""
}
