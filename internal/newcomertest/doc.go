// Package newcomertest is somebody who has never seen the page: they go by the
// words that they see, and know no selector and no address but the first.
//
// In: a fresh browser, and what a person would do next, in the words of the
// page. Out: nothing, or an error where such a person would hesitate: what they
// look for is not in sight, or two things look the same. It promises to use
// nothing that is folded away or hidden. It must be imported by tests only.
package newcomertest
