package resolve

import (
	"context"
	"fmt"
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

// Table resolves an alias to a stable id. A known id resolves to itself. An
// alias of two ids has no answer. The version of an answer that no row gave,
// but [TableOptions.Pass], ends in "+pass:" and a digest of the pattern.
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
	opt, err := opt.compiled()
	if err != nil {
		return nil, err
	}
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
	id, passed, err := ix.find(alias, t.opt)
	if err != nil {
		return Answer{}, err
	}
	v, err := t.opt.id(id)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Version: ix.version, Values: map[string]canon.Value{RoleValue: v}}
	if passed {
		a.Version += t.opt.passVersion()
	}
	return a, nil
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

// find returns the one id that an alias stands for, and whether only the
// pattern for ids without a row gave it. Rows that have expired are no answer,
// and what they name does not pass either.
func (ix index) find(alias string, opt TableOptions) (id string, passed bool, err error) {
	found := map[string]bool{}
	rows := ix.rows[opt.key(alias)]
	for _, r := range rows {
		if opt.live(r.Expires) {
			found[r.ID] = true
		}
	}
	expires, isID := ix.ids[alias]
	if isID && opt.live(expires) {
		found[alias] = true
	}
	if opt.passes(alias) {
		passed = len(rows) == 0 && !isID
		if passed || len(found) > 0 { // an id by its form that is also the name of another has two meanings
			found[alias] = true
		}
	}
	switch {
	case len(found) == 0:
		return "", false, canon.Refuse("/"+RoleValue, RuleUnresolved, "a known name that has not expired")
	case len(found) > 1:
		return "", false, canon.Refuse("/"+RoleValue, RuleAmbiguous, "a name of one thing only")
	}
	return sortedKeys(found)[0], passed, nil
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
