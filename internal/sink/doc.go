// Package sink hands the records of the log on as governance events: to a
// file of JSON lines, a webhook, or whatever else is a Target.
//
// In: the log of a store, and the places of sinks in it. Out: every event at
// least once, in the order of the log, so also in the order of each action. A
// target that is away, slow or full makes its sink lag, which Lags tells; it
// fails nothing else.
//
// It promises that a place moves only after the target has taken what is
// before it, that of several gateways on one store one delivers, and that
// nothing waits for a sink. It must never decide anything, nor hand on a
// payload.
package sink
