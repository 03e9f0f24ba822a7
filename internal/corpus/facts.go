package corpus

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
)

// kind is one kind of thing that belongs to a customer: the table of the
// catalog that holds them, and where calls name them.
type kind struct {
	table string
	tool  string // the one tool that names it so; "" for all
	at    []string
}

// kinds are the things that the fake backends know. The members of a passenger
// or of a postal address are not among them: they are free text.
var kinds = []kind{
	{"orders", "", []string{"/order_id"}},
	{"reservations", "", []string{"/reservation_id"}},
	{"payments", "", []string{"/payment_method_id", "/payment_id", "/payment_methods/0/payment_id",
		"/payment_methods/1/payment_id", "/payment_methods/2/payment_id", "/payment_methods/3/payment_id"}},
	{"emails", "find_user_id_by_email", []string{"/email"}},
	{"first_names", "find_user_id_by_name_zip", []string{"/first_name"}},
	{"last_names", "find_user_id_by_name_zip", []string{"/last_name"}},
	{"zips", "find_user_id_by_name_zip", []string{"/zip"}},
}

// facts is the fake backend: customer, then table, then what is theirs. The
// databases behind tau-bench are not part of the published calls, so ownership
// is taken from whose task names a thing.
type facts map[string]map[string][]string

func factsOf(tasks []Task) facts {
	f := facts{}
	for _, t := range tasks {
		if f[t.Customer] == nil {
			f[t.Customer] = map[string][]string{}
		}
		for _, c := range t.Calls {
			f.learn(t.Customer, c)
		}
	}
	return f
}

func (f facts) learn(customer string, c Call) {
	for _, k := range kinds {
		if k.tool != "" && k.tool != c.Tool {
			continue
		}
		for _, at := range k.at {
			v, ok := c.Args.Lookup(at)
			if ok && !slices.Contains(f[customer][k.table], v.Text()) {
				f[customer][k.table] = append(f[customer][k.table], v.Text())
			}
		}
	}
}

// customers are all customers, in order.
func (f facts) customers() []string { return slices.Sorted(maps.Keys(f)) }

// check refuses a thing of two customers: a swap of the two would be no attack.
func (f facts) check() error {
	owner := map[string]string{}
	for _, customer := range f.customers() {
		for _, table := range []string{"orders", "reservations", "payments"} {
			for _, id := range f[customer][table] {
				if first, taken := owner[table+id]; taken {
					return fmt.Errorf("read suite: %s and %s share one of %s", first, customer, table)
				}
				owner[table+id] = customer
			}
		}
	}
	return nil
}

// write makes the table files of one customer, as the catalogs name them.
func (f facts) write(dir, customer string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, k := range kinds {
		var rows []canon.Member
		for _, id := range f[customer][k.table] {
			rows = append(rows, canon.Member{Name: id, Value: canon.StringValue(id)})
		}
		path := filepath.Join(dir, k.table+".json")
		if err := os.WriteFile(path, canon.ObjectValue(rows...).Canonical(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
