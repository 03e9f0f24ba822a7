package resolve

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-de4804fb/verbatim/canon"
)

// TableOptions configure a [Table]. All are optional.
type TableOptions struct {
	// Fold matches aliases without regard to case and amount of white space.
	// Without it aliases match byte for byte. Ids always match byte for byte.
	Fold bool
	// Integer answers ids as JSON integers; an id that is none is an error.
	Integer bool
	// Pass is an RE2 pattern of ids that need no row: a text that matches it as
	// a whole, and of which the table says nothing, resolves to itself. Without
	// it, what is not in the table is refused.
	Pass string
	// Now is the clock that rows expire by; nil means time.Now.
	Now func() time.Time

	pass *regexp.Regexp // Pass, compiled by the constructors
}

// maxPassBytes is the longest pattern, for people have to read it.
const maxPassBytes = 1 << 10

var errPass = errors.New("pass matches the empty text: it says nothing about ids")

// compiled checks the options and compiles their pattern.
func (o TableOptions) compiled() (TableOptions, error) {
	if o.Pass == "" {
		return o, nil
	}
	if len(o.Pass) > maxPassBytes {
		return o, fmt.Errorf("pass is longer than %d bytes", maxPassBytes)
	}
	if _, err := regexp.Compile(o.Pass); err != nil { // alone, so that it cannot leave the group below
		return o, fmt.Errorf("pass: %w", err)
	}
	o.pass = regexp.MustCompile(`\A(?:` + o.Pass + `)\z`)
	if o.pass.MatchString("") {
		return o, errPass
	}
	return o, nil
}

// passes reports whether a text is an id by its form.
func (o TableOptions) passes(text string) bool {
	if o.pass == nil || !o.pass.MatchString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	v, err := o.id(text)
	return err == nil && (!o.Integer || v.NumberText() == text)
}

// passVersion tells in the evidence that no row gave the answer.
func (o TableOptions) passVersion() string {
	return "+pass:" + short(canon.Sum([]byte(o.Pass)))
}

func (o TableOptions) key(alias string) string {
	if o.Fold {
		return fold(alias)
	}
	return alias
}

func (o TableOptions) id(id string) (canon.Value, error) {
	if !o.Integer {
		return canon.StringValue(id), nil
	}
	i, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return canon.Value{}, err
	}
	return canon.IntValue(i), nil
}

func (o TableOptions) live(expires time.Time) bool {
	if expires.IsZero() {
		return true
	}
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	return now().Before(expires)
}
