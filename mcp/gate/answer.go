package gate

import (
	"log/slog"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// answer words an outcome for the client. What the server answered goes
// through byte for byte; everything else is a tool result that says what
// happened and what to do.
func (d *Desk) answer(m *wire.Message, t *tools, o verbatim.Outcome) *wire.Message {
	return d.receipted(d.worded(m, t, o), o)
}

// receipted puts the receipt beside an answer, in _meta. An answer that has no
// place for it goes without.
func (d *Desk) receipted(answer *wire.Message, o verbatim.Outcome) *wire.Message {
	if len(o.Receipt) == 0 || answer == nil {
		return answer
	}
	out, err := answer.WithMeta(wire.MetaReceipt, o.Receipt)
	if err != nil {
		return answer
	}
	return out
}

func (d *Desk) worded(m *wire.Message, t *tools, o verbatim.Outcome) *wire.Message {
	if reply := t.reply.Load(); reply != nil && serverWord(o) {
		return d.readdress(reply, m.ID())
	}
	if o.Status == verbatim.StatusOK {
		return d.stored(m, o)
	}
	return d.explain(m, o)
}

// serverWord: the outcome is what the server itself said.
func serverWord(o verbatim.Outcome) bool {
	return o.Status == verbatim.StatusOK || o.Status == verbatim.StatusFailed && o.Code == verbatim.CodeToolError
}

// stored answers with the result that was kept of an earlier run, byte for
// byte. Of a run that was settled later there may be none, or an error that
// said nothing: then the answer says that it took effect.
func (d *Desk) stored(m *wire.Message, o verbatim.Outcome) *wire.Message {
	if o.IsError || len(o.Output) == 0 {
		return d.foundOut(m, o)
	}
	out, err := wire.NewResult(m.ID(), o.Output)
	if err != nil {
		d.cfg.Log.Error("a stored result cannot be answered", "action", o.ActionID, "error", err)
		return d.failure(m.ID(), wire.CodeInternal, "the stored result cannot be read; the call was not run again")
	}
	return out
}

const textFoundOut = "This call took effect: that was found out later. Do not repeat it. What the tool answered is not known, or was an error that proves nothing."

// foundOut answers that a call took effect of which no result is known. A
// client would drop that as a result of a tool with an output schema, so there
// it goes as an error; the sentence is the same.
func (d *Desk) foundOut(m *wire.Message, o verbatim.Outcome) *wire.Message {
	return d.enveloped(m, o, wire.ToolResult{Text: textFoundOut, IsError: d.shaped(m.Name())})
}

// explain answers with the sentence and the envelope. A refusal under a known
// key is the stored answer, byte for byte, as a result is.
func (d *Desk) explain(m *wire.Message, o verbatim.Outcome) *wire.Message {
	if o.Status == verbatim.StatusDenied {
		o.Replayed = false
	}
	return d.enveloped(m, o, wire.ToolResult{Text: d.sentence(o), IsError: true})
}

// enveloped puts the envelope into an answer: as structured content, except
// where the tool declares an output schema: a client holds that against errors
// too, and would drop the whole answer.
func (d *Desk) enveloped(m *wire.Message, o verbatim.Outcome, r wire.ToolResult) *wire.Message {
	if d.shaped(m.Name()) {
		r.Data = string(o.Envelope())
	} else {
		r.Structured = o.Envelope()
	}
	if m.ProtocolVersion() != "" {
		r.ResultType = "complete"
	}
	out, err := wire.NewToolResult(m.ID(), r)
	if err != nil {
		d.cfg.Log.Error("an answer could not be built", "action", o.ActionID, "error", err)
		return d.failure(m.ID(), wire.CodeInternal, "the call did not run")
	}
	return out
}

func (d *Desk) shaped(name string) bool {
	found, _ := d.roster.find(name)
	return found.shaped
}

// readdress gives an answer the id that the client used.
func (d *Desk) readdress(answer *wire.Message, id wire.ID) *wire.Message {
	return readdress(d.cfg.Log, answer, id)
}

func readdress(log *slog.Logger, answer *wire.Message, id wire.ID) *wire.Message {
	out, err := answer.WithID(id)
	if err != nil {
		return failure(log, id, wire.CodeInternal, "the server's answer cannot be read")
	}
	return out
}

// sentence is what the model reads. The page's address is for its people; it
// carries no authority.
func (d *Desk) sentence(o verbatim.Outcome) string {
	text := o.Sentence()
	if o.Status != verbatim.StatusApprovalRequired {
		return text
	}
	if o.Code == verbatim.CodeApprovalRequired && d.cfg.Page != "" {
		text += " Ask your user to open " + d.cfg.Page + " and decide there."
	}
	if o.ActionID != "" {
		text += " Action: " + o.ActionID + "."
	}
	if !o.ExpiresAt.IsZero() {
		text += " It waits until " + o.ExpiresAt.UTC().Format(time.RFC3339) + "."
	}
	return text
}
