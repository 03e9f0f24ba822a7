package web

import (
	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/catalog"
	"github.com/seed-de4804fb/verbatim/resolve"
	"github.com/seed-de4804fb/verbatim/snapshot"
	"github.com/seed-de4804fb/verbatim/web/display"
)

// reading is one stored action made readable. What cannot be read is said to
// be so and cannot be approved.
type reading struct {
	row       action.Action
	tool      *catalog.Tool // nil if the catalog has none of this name
	args      canon.Value
	requested canon.Value
	preview   canon.Value
	masks     display.Masks

	unreadable     bool // stored bytes are not the canonical form of anything
	noRequested    bool
	noPreview      bool
	changedTool    bool // the tool is not the one that was decided on
	sentence       []display.Piece
	badSentence    bool // the template does not fit these arguments
	argumentsCount int
	unread         bool // too long for a list
}

// maxGlance is up to how many bytes of arguments a list reads, so that a few
// huge proposals do not make the inbox slow for everybody.
const maxGlance = 64 << 10

// glance reads an action for a list.
func (s *site) glance(a action.Action) reading {
	if len(a.Payload.Args)+len(a.Payload.Requested) <= maxGlance {
		a.Payload.Preview = ""
		return s.read(a)
	}
	r := reading{row: a, unread: true, masks: display.MaskAll()}
	if tool, found := s.toolOf(a); found {
		r.tool = tool
	}
	return r
}

// line is a headline with the beginning of the arguments where there is no
// sentence.
func (r reading) line(excerpt int) []display.Piece {
	if len(r.sentence) > 0 || r.unread || r.unreadable {
		return r.headline()
	}
	line := append(r.headline(), display.Piece{Text: ": "})
	return append(line, display.Excerpt(display.Literal(r.args, "", r.masks.PointersOnly()), excerpt)...)
}

// limits let everything be read back that the engine could have stored.
var limits = canon.Options{MaxBytes: canon.CeilingBytes, MaxDepth: canon.CeilingDepth, MaxNodes: canon.CeilingNodes}

func (s *site) read(a action.Action) reading {
	r := reading{row: a}
	if tool, found := s.toolOf(a); found {
		r.tool = tool
	}
	r.changedTool = r.tool == nil || r.tool.Definition != a.Definition
	var ok bool
	if r.args, ok = canonical(a.Payload.Args); !ok {
		r.unreadable = true
	}
	if r.requested, ok = canonical(a.Payload.Requested); !ok {
		r.noRequested = true
	}
	if r.preview, ok = canonical(a.Payload.Preview); !ok {
		r.noPreview = true
	}
	r.argumentsCount = len(r.args.Members())
	r.masks = display.MaskAll()
	if r.tool != nil {
		r.masks = display.NewMasks(r.tool.Secrets, r.args, r.requested)
		if !r.unreadable && r.tool.Sentence != "" && !r.changedTool {
			r.sentence, ok = s.reads.reader.Sentence(r.tool.Sentence, r.args, r.masks.PointersOnly())
			r.badSentence = !ok
		}
	}
	return r
}

// toolOf returns the catalog's facts. A handoff has no tool: it names an
// agent, and nothing in it is known to be secret.
func (s *site) toolOf(a action.Action) (*catalog.Tool, bool) {
	if a.Kind == action.KindHandoff {
		return &catalog.Tool{Name: a.Tool, Definition: a.Definition, Impact: catalog.Ordinary}, true
	}
	tool, found := s.tools(a.Tool)
	return tool, found && tool != nil
}

// canonical reads a stored text back; it must be its own canonical form, or
// it is not what was hashed.
func canonical(text string) (canon.Value, bool) {
	if text == "" {
		return canon.Value{}, false
	}
	v, err := canon.Decode([]byte(text), limits)
	if err != nil || string(v.Canonical()) != text {
		return canon.Value{}, false
	}
	return v, true
}

// headline is one sentence on what will happen.
func (r reading) headline() []display.Piece {
	if len(r.sentence) > 0 {
		return r.sentence
	}
	verb := "Call "
	if r.row.Kind == action.KindHandoff {
		verb = "Hand over to the agent "
	}
	head := append([]display.Piece{{Text: verb}}, display.Text(r.row.Tool)...)
	if r.unread {
		return append(head, display.Piece{Text: " with " + many(len(r.row.Payload.Args), "byte", "bytes") + " of arguments"})
	}
	return append(head, display.Piece{Text: " with " + many(r.argumentsCount, "argument", "arguments")})
}

// target shows a target, unless its type is read from a secret member.
func (r reading) target(t snapshot.Target) []display.Piece {
	if r.tool != nil {
		for _, rule := range r.tool.Targets {
			if rule.Type == t.Type && r.masks.Masks(rule.Pointer) {
				return display.TextMasked(t.ID, display.MaskAll())
			}
		}
	}
	return display.TextMasked(t.ID, r.masks.PointersOnly())
}

// moneyPairs returns the pointers of what the catalog's sentence calls money,
// and at which resolvers put an amount, each with the pointer of its currency.
func (r reading) moneyPairs() map[string]string {
	if r.tool == nil {
		return nil
	}
	pairs := display.MoneyIn(r.tool.Sentence)
	for _, rule := range r.tool.Resolvers {
		amount, hasAmount := rule.Into[resolve.RoleAmountMinor]
		currency, hasCurrency := rule.Into[resolve.RoleCurrency]
		if hasAmount && hasCurrency {
			pairs[amount] = currency
		}
	}
	return pairs
}
