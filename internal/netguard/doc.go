// Package netguard fetches a document from a configured address, or sends one
// there, and connects nowhere else.
//
// It takes a URL that an operator wrote, and gives the bytes behind it or one
// of its sentinel errors. The address is checked when the connection is made,
// on the very address that it is made to, so that a name that answers
// differently the second time gains nothing. Only public addresses are
// reached, and those in networks that the operator lists.
//
// It promises no redirect, no proxy from the environment, no plain HTTP but
// to listed networks, and limits on size and time. It must never take a URL
// from arguments, and its errors never hold a URL, which may carry a secret.
package netguard
