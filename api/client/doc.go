// Package client calls the decision API from Go.
//
// In: proposed calls with the arguments as the exact text that the model wrote.
// Out: the gate's outcomes, as the library has them, and what the gateway keeps
// of actions. A denial, a wait or an unclear end is an outcome, never an error;
// an error says that there is no outcome, and [ErrUnclear] that nobody knows
// whether the gateway got the call.
//
// A request is repeated only where that cannot start anything twice: it reads,
// it has an idempotency key, it never left, or the gateway said that nothing
// was done. A [Client] waits for people over server-sent events, and over long
// polls where streams do not come through.
//
// It promises that argument text is sent as it is, that what a tool answered is
// handed on as the bytes that came, that a token goes to one origin and no
// further, and that answers are read strictly: a member that occurs twice, is of
// another type or holds a word outside the closed lists is [ErrAnswer]. Members
// that it does not know are left alone: gateways may be newer. It must never
// guess an outcome, follow a redirect, or invent a key by itself.
package client
