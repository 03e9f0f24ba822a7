package resolve

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Row gives one alias its stable id.
type Row struct {
	Alias   string
	ID      string
	Expires time.Time // zero: never. At this time the row is no answer any more
}

// TableOptions configure a [Table]. All are optional.
type TableOptions struct {
	// Fold matches aliases without regard to case and amount of white space.
	// Without it aliases match byte for byte. Ids always match byte for byte.
	Fold bool
	// Integer answers ids as JSON integers; an id that is none is an error.
	Integer bool
	// Now is the clock that rows expire by; nil means time.Now.
	Now func() time.Time
}

// Table resolves an alias to a stable id. A known id resolves to itself. An
// alias of two ids has no answer.
//
// From: the alias as a string, or a number by its RFC 8785 text, in the role
// "value". Answer: the id in the same role.
type Table struct {
	opt  TableOptions
	file *tableFile // nil if the rows are fixed

	source *tableSource // nil if the rows are not asked for

	mu  sync.Mutex // guards the file's state and now
	now index
}

var _ Resolver = (*Table)(nil)

// index is one reading of the rows.
type index struct {
	version string
	rows    map[string][]Row // by alias as it is matched
	ids     map[string]time.Time
}

// NewTable builds a table from rows. The version of its answers is the digest
// of the rows.
func NewTable(rows []Row, opt TableOptions) (*Table, error) {
	ix, err := newIndex(rows, opt)
	if err != nil {
		return nil, err
	}
	ix.version = "rows:" + short(canon.Sum(rowsValue(rows).Canonical()))
	return &Table{opt: opt, now: ix}, nil
}

func rowsValue(rows []Row) canon.Value {
	var out []canon.Value
	for _, r := range rows {
		out = append(out, canon.ArrayValue(canon.StringValue(r.Alias), canon.StringValue(r.ID),
			canon.StringValue(r.Expires.UTC().Format(time.RFC3339Nano))))
	}
	return canon.ArrayValue(out...)
}

func newIndex(rows []Row, opt TableOptions) (index, error) {
	ix := index{rows: map[string][]Row{}, ids: map[string]time.Time{}}
	for i, r := range rows {
		if err := r.check(opt); err != nil {
			return index{}, fmt.Errorf("row %d: %w", i+1, err)
		}
		key := opt.key(r.Alias)
		ix.rows[key] = append(ix.rows[key], r)
		if old, ok := ix.ids[r.ID]; !ok || !old.IsZero() && (r.Expires.IsZero() || r.Expires.After(old)) {
			ix.ids[r.ID] = r.Expires
		}
	}
	return ix, nil
}

func (r Row) check(opt TableOptions) error {
	if opt.key(r.Alias) == "" {
		return fmt.Errorf("alias is empty")
	}
	for name, s := range map[string]string{"alias": r.Alias, "id": r.ID} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%s is not valid UTF-8", name)
		}
	}
	if r.ID == "" {
		return fmt.Errorf("id is empty")
	}
	for _, c := range r.ID {
		if unicode.IsControl(c) {
			return fmt.Errorf("id holds a control character")
		}
	}
	if opt.Integer {
		if v, err := opt.id(r.ID); err != nil || v.NumberText() != r.ID {
			return fmt.Errorf("id is not an integer within ±9007199254740991")
		}
	}
	return nil
}

func (o TableOptions) key(alias string) string {
	if o.Fold {
		return fold(alias)
	}
	return alias
}

func (o TableOptions) id(id string) (canon.Value, error) {
	if !o.Integer {
		return canon.StringValue(id), nil
	}
	i, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return canon.Value{}, err
	}
	return canon.IntValue(i), nil
}

func (o TableOptions) live(expires time.Time) bool {
	if expires.IsZero() {
		return true
	}
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	return now().Before(expires)
}

// Roles tells which roles the rule of a catalog may bind.
func (t *Table) Roles() Roles {
	return Roles{In: []string{RoleValue}, Out: []string{RoleValue}, Need: []string{RoleValue}, Some: []string{RoleValue}}
}

// Resolve answers the id of an alias.
func (t *Table) Resolve(ctx context.Context, in map[string]canon.Value) (Answer, error) {
	alias, err := aliasText(in[RoleValue])
	if err != nil {
		return Answer{}, err
	}
	ix, err := t.current(ctx)
	if err != nil {
		return Answer{}, err
	}
	id, err := ix.find(alias, t.opt)
	if err != nil {
		return Answer{}, err
	}
	v, err := t.opt.id(id)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Version: ix.version, Values: map[string]canon.Value{RoleValue: v}}, nil
}

func aliasText(v canon.Value) (string, error) {
	switch v.Kind() {
	case canon.String:
		return v.Text(), nil
	case canon.Number:
		return v.NumberText(), nil
	default:
		return "", canon.Refuse("/"+RoleValue, RuleUnresolved, "a known name, as a string")
	}
}

// find returns the one id that an alias stands for. Rows that have expired
// are no answer.
func (ix index) find(alias string, opt TableOptions) (string, error) {
	found := map[string]bool{}
	for _, r := range ix.rows[opt.key(alias)] {
		if opt.live(r.Expires) {
			found[r.ID] = true
		}
	}
	if expires, ok := ix.ids[alias]; ok && opt.live(expires) {
		found[alias] = true
	}
	switch {
	case len(found) == 0:
		return "", canon.Refuse("/"+RoleValue, RuleUnresolved, "a known name that has not expired")
	case len(found) > 1:
		return "", canon.Refuse("/"+RoleValue, RuleAmbiguous, "a name of one thing only")
	}
	return sortedKeys(found)[0], nil
}

// current returns the rows as they stand now.
func (t *Table) current(ctx context.Context) (index, error) {
	if t.source != nil {
		return t.source.rows(ctx, t.opt)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return t.now, nil
	}
	data, changed, err := t.file.read()
	if err != nil {
		return index{}, err
	}
	if changed {
		ix, err := t.file.index(data, t.opt)
		if err != nil {
			t.file.forget()
			return index{}, err
		}
		t.now = ix
	}
	return t.now, nil
}
