package identity

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxNameBytes is the longest tenant, principal or agent name.
const MaxNameBytes = 512

// Validate checks what every session must have: a tenant, a principal and an
// agent, in valid UTF-8 without control characters. Optional fields obey the
// same rule where they are set. The error names the field, not its value.
func (s Session) Validate() error {
	for _, f := range []struct{ name, value string }{
		{"tenant", s.Tenant}, {"principal", s.Principal}, {"agent", s.Agent},
	} {
		if f.value == "" {
			return fmt.Errorf("session without %s", f.name)
		}
		if err := clean(f.name, f.value); err != nil {
			return err
		}
	}
	return s.validateOptional()
}

func (s Session) validateOptional() error {
	for _, f := range []struct{ name, value string }{
		{"owner", s.Owner}, {"task", s.Task}, {"grant id", s.Grant.ID},
	} {
		if err := clean(f.name, f.value); err != nil {
			return err
		}
	}
	if (s.Grant.ID == "") != s.Grant.Digest.IsZero() {
		return fmt.Errorf("session grant needs id and digest together")
	}
	for _, list := range []struct {
		name   string
		values []string
	}{{"role", s.Roles}, {"taint label", s.Taint}} {
		for _, v := range list.values {
			if v == "" {
				return fmt.Errorf("session with an empty %s", list.name)
			}
			if err := clean(list.name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func clean(name, value string) error {
	if len(value) > MaxNameBytes {
		return fmt.Errorf("session %s is longer than %d bytes", name, MaxNameBytes)
	}
	if !utf8.ValidString(value) {
		return fmt.Errorf("session %s is not valid UTF-8", name)
	}
	for _, r := range value {
		if unicode.IsControl(r) {
			return fmt.Errorf("session %s holds a control character", name)
		}
	}
	return nil
}
