package cedar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
)

// spelling says how a tool's transforms and resolvers write a text. Rules are
// compared with what they wrote, so a text in a rule must be written that way
// too.
type spelling struct {
	places  map[string][]speller // by pointer, with "*" for every element
	targets map[types.EntityType][]string
}

// speller writes a text the one way. It fails where the text is no name of
// anything, now.
type speller struct {
	by    string
	write func(ctx context.Context, text string) (string, error)
}

// roleValue is the role of the one text of a resolver.
const roleValue = "value"

func spellingOf(t *catalog.Tool) spelling {
	s := spelling{places: map[string][]speller{}, targets: map[types.EntityType][]string{}}
	for _, r := range t.Resolvers {
		into, one := r.Into[roleValue]
		if _, plain := r.From[roleValue]; !one || !plain || len(r.Into) != 1 || len(r.From) != 1 {
			continue
		}
		s.places[into] = append(s.places[into], speller{"the resolver " + r.Name, func(ctx context.Context, text string) (string, error) {
			a, err := r.Resolver.Resolve(ctx, map[string]canon.Value{roleValue: canon.StringValue(text)})
			if v := a.Values[roleValue]; err == nil && v.Kind() == canon.String {
				return v.Text(), nil
			}
			return text, err
		}})
	}
	for _, x := range t.Targets {
		et := entityType(x.Type)
		s.targets[et] = append(s.targets[et], x.Pointer)
	}
	if t.Proposal != nil {
		s.transforms(t)
	}
	return s
}

// transforms puts the named transforms of a place before its resolvers.
func (s spelling) transforms(t *catalog.Tool) {
	for at, writers := range t.Proposal.Writers() {
		first := make([]speller, len(writers))
		for i, write := range writers {
			first[i] = speller{"a transform", func(_ context.Context, text string) (string, error) { return write(text), nil }}
		}
		s.places[at] = append(first, s.places[at]...)
	}
}

// comparison is a text of a rule that is held against a place of the arguments.
type comparison struct{ pointer, text string }

// comparisonsOf reads context.args.a == "x", ["x", "y"].contains(context.args.a),
// context.args.list.items.contains("x") and the like.
func comparisonsOf(left, right ast.IsNode) (out []comparison) {
	for _, pair := range [][2]ast.IsNode{{left, right}, {right, left}} {
		root, path, ok := chain(pair[0])
		if !ok || root != "context" || len(path) < 2 || path[0] != "args" {
			continue
		}
		pointer := pointerOf(path[1:])
		if last := len(path) - 1; path[last] == attrItems {
			pointer = pointerOf(path[1:last]) + "/*"
		}
		for _, text := range textsIn(pair[1]) {
			out = append(out, comparison{pointer, text})
		}
	}
	return out
}

func textsIn(n ast.IsNode) []string {
	if value, ok := n.(ast.NodeValue); ok {
		if text, ok := value.Value.(types.String); ok {
			return []string{string(text)}
		}
	}
	texts, _, _ := listLiteral(n)
	return texts
}

// spellTimeout bounds all questions of one check.
const spellTimeout = 10 * time.Second

// misspelt finds texts and targets in rules that no call ever equals, because
// they are not as the tool's transforms and resolvers write them.
func (e *Engine) misspelt() (out []Finding) {
	ctx, cancel := context.WithTimeout(context.Background(), spellTimeout)
	defer cancel()
	for _, r := range e.rules {
		seen := map[string]bool{}
		for _, a := range e.sorted() {
			if !r.reaches(a) {
				continue
			}
			for _, message := range append(a.spells.texts(ctx, r), a.spells.entities(ctx, r)...) {
				if !seen[message] {
					seen[message] = true
					out = append(out, Finding{Rule: r.id, File: r.file, Line: r.line, Message: message})
				}
			}
		}
	}
	return out
}

func (s spelling) texts(ctx context.Context, r *rule) (out []string) {
	for _, c := range r.reads.compares {
		if why := s.wrong(ctx, c.pointer, c.text); why != "" {
			out = append(out, fmt.Sprintf("%q is held against %s, and %s", c.text, c.pointer, why))
		}
	}
	return out
}

func (s spelling) entities(ctx context.Context, r *rule) (out []string) {
	for _, uid := range r.reads.entities {
		for _, at := range s.targets[uid.Type] {
			why := s.wrong(ctx, at, string(uid.ID))
			if why == "" && len(s.places[at]) == 0 {
				why = s.wrong(ctx, at+"/*", string(uid.ID))
			}
			if why != "" {
				out = append(out, fmt.Sprintf("the target %s is %s, and %s", uid, at, why))
				break
			}
		}
	}
	return out
}

var errSpeller = errors.New("it breaks")

// wrong says why no call has the text at the place; "" if one could.
func (s spelling) wrong(ctx context.Context, pointer, text string) string {
	now := text
	for _, w := range s.places[pointer] {
		next, err := spelled(ctx, w, now)
		if err != nil {
			return w.by + " knows no such thing now: no call equals it"
		}
		if next != now {
			return fmt.Sprintf("%s writes it otherwise (%q): no call equals it", w.by, next)
		}
		now = next
	}
	return ""
}

func spelled(ctx context.Context, w speller, text string) (out string, err error) {
	defer func() {
		if recover() != nil { // a check must not fail on code of the embedder
			err = errSpeller
		}
	}()
	return w.write(ctx, text)
}
