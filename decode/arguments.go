package decode

import (
	"errors"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Options are the limits of one tool. A limit of 0 means its default; no value
// switches one off.
type Options struct {
	MaxBytes int // 1 to canon.CeilingBytes; 0 means canon.DefaultMaxBytes (1 MiB)
	MaxDepth int // 1 to canon.CeilingDepth; 0 means canon.DefaultMaxDepth (64)
	MaxNodes int // 1 to canon.CeilingNodes; 0 means canon.DefaultMaxNodes (100,000)
	// KeepTwins accepts two names of one object that are equal under simple
	// case folding (catalog caseTwins: keep). Equal names are refused always.
	KeepTwins bool
	// Known says whether the schema declares the member at a JSON Pointer.
	// Other names print as canon.UnknownName in errors. nil knows none.
	Known func(pointer string) bool
}

// Check returns an error wrapping canon.ErrOptions if a limit is outside its
// range. Catalogs call it when they load.
func (o Options) Check() error { return o.canon().Check() }

func (o Options) canon() canon.Options {
	known := o.Known
	if known == nil {
		known = func(string) bool { return false }
	}
	return canon.Options{
		MaxBytes:  o.MaxBytes,
		MaxDepth:  o.MaxDepth,
		MaxNodes:  o.MaxNodes,
		Exact:     true,
		FoldTwins: !o.KeepTwins,
		Known:     known,
	}
}

// Arguments reads the arguments of one tool call: exactly one JSON object in
// UTF-8, with nothing but white space around it. The error is a
// [canon.Violations], or wraps canon.ErrOptions.
func Arguments(raw []byte, opt Options) (canon.Value, error) {
	v, err := canon.Decode(raw, opt.canon())
	switch {
	case err != nil:
		return canon.Value{}, refusal(raw, err)
	case v.Kind() != canon.Object:
		return canon.Value{}, refuseRoot(raw, v)
	}
	return v, nil
}

// refusal explains what the decoder has found; other errors stay as they are.
func refusal(raw []byte, err error) error {
	var refused canon.Violations
	if errors.As(err, &refused) {
		return explain(raw, refused)
	}
	return err
}
