package verbatim_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/execute"
)

// lines is a log that a test reads.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// told is everything that leaves a gate without being asked for a payload:
// its log, all records, the evidence of each action, and what is answered.
func (s *stage) told(l *lines, outcomes ...verbatim.Outcome) string {
	s.t.Helper()
	text := l.text()
	records, err := s.Store.Records(s.t.Context(), audit.Filter{Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range records {
		leaf, err := r.Leaf()
		if err != nil {
			s.t.Fatal(err)
		}
		text += string(leaf)
	}
	s.sequence()
	for _, o := range outcomes {
		text += o.Sentence() + string(o.Receipt)
		if o.ActionID != "" {
			text += string(s.bundle(o.ActionID, false).JSON())
		}
	}
	return text
}

func logged(l *lines) func(*verbatim.Config) {
	return func(c *verbatim.Config) {
		receiptsOn(c)
		c.Log = slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

// TestK05NamesThatNobodyKnowsAreNotRepeated: a token in the place of a member
// name is refused, and its name shows nowhere.
func TestK05NamesThatNobodyKnowsAreNotRepeated(t *testing.T) {
	t.Parallel()
	l := &lines{}
	s := newStage(t, parts{gate: logged(l)})
	o := s.call(`{"sk-test-000":true}`)
	want(t, o, verbatim.StatusInvalidArguments, verbatim.CodeInvalidArguments)
	text := s.told(l, o) + string(o.Envelope())
	if strings.Contains(text, "sk-test-000") || !strings.Contains(text, "<unknown>") {
		t.Error(text)
	}
}

// TestK07ValuesAreInNoLogAndNoRecord: whatever a value is called, and whether
// its call runs, fails, is denied or is uncertain.
func TestK07ValuesAreInNoLogAndNoRecord(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"cpf":{"type":"string"},"limit":{"type":"integer"}}}`
	for name, do := range map[string]func(context.Context, execute.Input) (execute.Output, error){
		"it runs": nil,
		"its error repeats the value": func(_ context.Context, in execute.Input) (execute.Output, error) {
			return execute.Output{}, errors.New("refused: " + string(in.JSON()))
		},
		"its answer repeats the value": func(_ context.Context, in execute.Input) (execute.Output, error) {
			return execute.Output{Bytes: in.JSON(), IsError: true}, nil
		},
	} {
		l := &lines{}
		spec := financial("note", schema)
		s := newStage(t, parts{spec: spec, gate: logged(l)})
		s.probe.set(do)
		asked := s.approved(verbatim.Call{Arguments: []byte(`{"cpf":"00000000191","limit":48151623}`)})
		ran := s.with(verbatim.Call{Arguments: []byte(`{"cpf":"00000000191","limit":48151623}`), Approval: asked.ActionID})
		text := s.told(l, asked, ran)
		for _, value := range []string{"00000000191", "48151623"} {
			if strings.Contains(text, value) {
				t.Errorf("%s: %s is in %s", name, value, text)
			}
		}
	}
}
