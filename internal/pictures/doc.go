// Package pictures photographs the pages: `make screenshots`.
//
// In: a built program. It plays the demo, opens every page in a real browser
// as the demo's person, and writes each in four variants, light and dark, on
// a desk and on a phone. Out: PNG files. It fails where a page does not
// answer or where the demo cannot be played. It must never be part of the
// program.
package pictures
