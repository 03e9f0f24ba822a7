package metrics

import (
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
)

// secondsBuckets go from a decision in memory to a person who thinks.
func secondsBuckets() []float64 {
	return []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
}

// peopleBuckets go from somebody who watches to the longest wait.
func peopleBuckets() []float64 {
	return []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600}
}

// Calls counts what a gate has answered.
type Calls struct {
	calls, decisions, unstored Counter
	took, steps                Histogram
}

// NewCalls adds the families of a gate.
func NewCalls(r *Registry) *Calls {
	return &Calls{
		calls:     r.Counter("verbatim_calls_total", "Calls answered, by tool (empty where none was found), status and code.", "tool", "status", "code"),
		decisions: r.Counter("verbatim_decisions_total", "What policy said last in each call that came so far.", "decision", "code"),
		unstored:  r.Counter("verbatim_unstored_calls_total", "Calls refused because the record could not be written."),
		took:      r.Histogram("verbatim_call_seconds", "Time from a call to its answer, waiting for people included.", secondsBuckets(), "status"),
		steps:     r.Histogram("verbatim_step_seconds", "Time of one step of a call.", secondsBuckets(), "step"),
	}
}

// Observe is for verbatim.Config.Observe.
func (c *Calls) Observe(o verbatim.Observation) {
	status, code := o.Outcome.Status, o.Outcome.Code
	if o.Unstored {
		status, code = verbatim.StatusFailed, verbatim.CodeRecordFailed
		c.unstored.Add(1)
	}
	c.calls.Add(1, o.Tool, string(status), string(code))
	if o.Decision != "" {
		c.decisions.Add(1, o.Decision, string(o.DecisionCode))
	}
	c.took.Observe(o.Took.Seconds(), string(status))
	for _, s := range o.Steps {
		c.steps.Observe(s.Took.Seconds(), s.Name)
	}
}

// since is the time since then, in seconds.
func since(began time.Time) float64 { return time.Since(began).Seconds() }
