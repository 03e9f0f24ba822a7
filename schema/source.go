package schema

import (
	"errors"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// decodeSchema reads a schema text. Numbers that RFC 8785 would print with
// another value are refused: a limit must be the limit that its author wrote.
// Integers beyond ±(2^53-1) are rounded: no argument can reach them, so the
// rounded limit decides the same.
func decodeSchema(src []byte) (canon.Value, error) {
	opt := canon.Options{MaxBytes: maxSchemaBytes, MaxDepth: maxSchemaDepth}
	v, err := canon.Decode(src, opt)
	if err != nil {
		return canon.Value{}, err
	}
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '"':
			i = afterString(src, i)
		case c == '-' || '0' <= c && c <= '9':
			end := afterNumber(src, i)
			if err := checkNumber(string(src[i:end]), i); err != nil {
				return canon.Value{}, err
			}
			i = end
		default:
			i++
		}
	}
	return v, nil
}

// afterString returns the index after the string that starts at i. The text
// has been decoded, so the string ends.
func afterString(src []byte, i int) int {
	for i++; i < len(src) && src[i] != '"'; i++ {
		if src[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func afterNumber(src []byte, i int) int {
	for i < len(src) && strings.IndexByte("+-.eE0123456789", src[i]) >= 0 {
		i++
	}
	return i
}

func checkNumber(text string, offset int) error {
	_, err := canon.ParseNumber(text, true)
	if err == nil {
		return nil
	}
	if rounded, err := canon.ParseNumber(text, false); err == nil {
		if f := rounded.Float64(); f > canon.MaxSafeInteger || f < -canon.MaxSafeInteger {
			return nil
		}
	}
	var vs canon.Violations
	if errors.As(err, &vs) && len(vs) > 0 {
		vs[0].Offset = offset
	}
	return err
}
