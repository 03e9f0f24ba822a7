// Package web serves the pages on which people decide and look things up.
//
// In: HTTP requests of a browser. Out: server-rendered pages, and through
// [Gate] votes and revocations. Requests fail with a page that says what to
// do; what a person may not see looks exactly like what does not exist.
//
// It promises that an approver sees what will run, rendered from the bytes
// that will run; that nothing is cut or hidden without saying so; that a
// form decides only on what was shown; that every decision asks for the
// password again; and that no link, cookie or token decides anything by
// itself. It works without scripts. It must never touch a store, accept a
// decision by GET, or trust what an agent or a tool says about itself.
package web
