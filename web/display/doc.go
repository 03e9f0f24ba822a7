// Package display turns the bytes that will run into what people read.
//
// In: strings, canonical values, changes and a sentence template. Out: runs
// of plain text and marks ([Piece]), table rows that put requested beside
// effective, one sentence. It never fails: what cannot be shown is marked or
// said to be missing.
//
// It promises that no control, direction or hidden character comes out as
// itself, that letters which pass for Latin ones are marked, that nothing is
// cut, that null and "null" look different, and that a masked value appears
// nowhere. It must never change a value: it shows a copy.
package display
