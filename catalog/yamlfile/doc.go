// Package yamlfile reads and writes catalogs as YAML files, in the format of
// docs/catalog.md.
//
// In: files of an operator, or the tool objects of an upstream's tools/list.
// Out: a [catalog.Catalog], or a commented file for a person to finish.
//
// It fails with file, line and field for whatever has two readings or none:
// duplicate keys, unknown fields, anchors and aliases, custom tags, numbers
// that JSON does not write that way, a second document.
//
// It promises that every tool goes through [catalog.Define], as those in code
// do. It must never guess a class or a mark: what it suspects it writes as a
// comment.
package yamlfile
