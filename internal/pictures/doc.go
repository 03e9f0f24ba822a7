// Package pictures photographs the pages: `make screenshots`.
//
// In: a built program. It plays the demo, opens every page in a real browser
// as the demo's person, and writes each in four variants, light and dark, on
// a desk and on a phone. Then it does what a new user does: approve, find it
// again, settle what is uncertain; and it invites somebody who joins. What is
// decided on several at once has no high impact, and the demo has none: a
// small engine of the package's own has. Out: PNG files; the two readme-*.png are
// copied to docs/screenshots by hand. It fails where a page does not
// answer or where the demo cannot be played. It must never be part of the
// program.
package pictures
