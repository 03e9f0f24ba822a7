package shadow

import (
	"bytes"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/policy/replay"
)

// read takes in the lines of one file, which is older than what was read
// before.
func (k *Kept) read(text []byte, most int) {
	lines := bytes.Split(text, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if len(lines[i]) == 0 {
			continue
		}
		if most > 0 && len(k.Verdicts) == most {
			k.Cut = true
			return
		}
		v, err := canon.Decode(lines[i], canon.Options{MaxBytes: canon.CeilingBytes})
		if err != nil || !k.take(v) {
			k.Broken++
		}
	}
}

// take takes one line; false where it is neither a verdict nor a gap.
func (k *Kept) take(line canon.Value) bool {
	at, err := time.Parse(time.RFC3339Nano, text(line, "at"))
	if err != nil {
		return false
	}
	if n, ok := line.Get("dropped"); ok {
		calls, whole := n.Int64()
		if !whole || calls < 0 {
			return false
		}
		k.Dropped = append(k.Dropped, Gap{at, int(calls)})
		return true
	}
	v := replay.Verdict{Action: text(line, "action"), Tenant: text(line, "tenant"), Tool: text(line, "tool"), Agent: text(line, "agent"), At: at,
		State: action.State(text(line, "state")), Kind: replay.Kind(text(line, "kind")), Why: text(line, "why"),
		Was: answer(line, "was"), Is: answer(line, "is")}
	if v.Kind == "" {
		return false
	}
	k.Verdicts = append(k.Verdicts, v)
	return true
}

func answer(line canon.Value, name string) replay.Answer {
	v, _ := line.Get(name)
	a := replay.Answer{Decision: text(v, "decision"), Code: text(v, "code"), TTL: text(v, "ttl"), Rules: texts(v, "rules"),
		Requirements: texts(v, "requirements")}
	step, _ := v.Get("stepUp")
	a.StepUp = step.Bool()
	if a.Rules == nil {
		a.Rules = []string{}
	}
	return a
}

func text(v canon.Value, name string) string {
	m, _ := v.Get(name)
	return m.Text()
}

func texts(v canon.Value, name string) (out []string) {
	list, _ := v.Get(name)
	if list.Kind() != canon.Array {
		return nil
	}
	for _, e := range list.Elements() {
		out = append(out, e.Text())
	}
	return out
}
