// Package catalog says what each tool is: its definition, whether it changes
// something and how badly, which members are identities, targets, amounts and
// secrets, how it is previewed, and who may approve it.
//
// In: a [Spec] for each tool, from a file (package catalog/yamlfile) or from
// code, and the live tool definitions of an upstream. Out: a [Catalog] of
// complete [Tool] values with every default filled in and every schema
// compiled, and [Finding] lists from [Lint].
//
// It fails for a schema that cannot be enforced, naming the keyword; for a
// mark on a member that the schema does not declare; and for a class lower
// than high-impact without a written reason. A live definition that is not
// the pinned one fails with [ErrDefinitionChanged].
//
// It promises that what is not said is the careful choice: a mutation,
// irreversible, blind. It must never take a class, an effect or an identity
// from what a server says about itself, and never reach for the network.
package catalog
