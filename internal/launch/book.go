package launch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-de4804fb/verbatim/canon"
)

// Book is the pins of a home by server.
type Book map[string]Pin

// maxBook bounds the file, in bytes.
const maxBook = 16 << 20

// Read reads a book. One that is not there is empty; one that cannot be read
// whole is an error, and then nothing may be started.
func Read(path string) (Book, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return Book{}, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := canon.Decode(text, canon.Options{MaxBytes: maxBook, Exact: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	servers, ok := v.Get("servers")
	if version, is := v.Get("version"); !ok || !is || version.Text() != bookVersion || v.Len() != 2 || servers.Kind() != canon.Object {
		return nil, fmt.Errorf("%s: %w", path, errBook)
	}
	out := Book{}
	for _, m := range servers.Members() {
		if out[m.Name], err = pinOf(m.Value); err != nil {
			return nil, fmt.Errorf("%s: server %s: %w", path, m.Name, err)
		}
	}
	return out, nil
}

const bookVersion = "1"

var errBook = errors.New("this is no book of pinned commands")

// Write replaces a book in one step.
func (b Book) Write(path string) error {
	var servers []canon.Member
	for _, name := range slices.Sorted(maps.Keys(b)) {
		servers = append(servers, canon.Member{Name: name, Value: b[name].value()})
	}
	text := canon.ObjectValue(canon.Member{Name: "servers", Value: canon.ObjectValue(servers...)},
		canon.Member{Name: "version", Value: canon.StringValue(bookVersion)}).Canonical()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// value is the JSON form of a pin.
func (p Pin) value() canon.Value {
	return canon.ObjectValue(
		canon.Member{Name: "arguments", Value: textsValue(p.Arguments)},
		canon.Member{Name: "environment", Value: digestsValue(p.Environment)},
		canon.Member{Name: "files", Value: digestsValue(p.Files)},
		canon.Member{Name: "program", Value: canon.StringValue(p.Program)},
		canon.Member{Name: "secrets", Value: textsValue(p.Secrets)},
		canon.Member{Name: "sha256", Value: canon.StringValue(p.SHA256.String())})
}

func textsValue(list []string) canon.Value {
	out := make([]canon.Value, len(list))
	for i, s := range list {
		out[i] = canon.StringValue(s)
	}
	return canon.ArrayValue(out...)
}

func digestsValue(m map[string]canon.Digest) canon.Value {
	var out []canon.Member
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, canon.Member{Name: name, Value: canon.StringValue(m[name].String())})
	}
	return canon.ObjectValue(out...)
}

// pinOf reads a pin: every member, and no other.
func pinOf(v canon.Value) (Pin, error) {
	p := Pin{Environment: map[string]canon.Digest{}, Files: map[string]canon.Digest{}}
	sum := ""
	fields := map[string]func(canon.Value) error{
		"arguments":   func(v canon.Value) (err error) { p.Arguments, err = texts(v); return err },
		"secrets":     func(v canon.Value) (err error) { p.Secrets, err = texts(v); return err },
		"environment": func(v canon.Value) error { return digests(v, p.Environment) },
		"files":       func(v canon.Value) error { return digests(v, p.Files) },
		"program":     func(v canon.Value) (err error) { p.Program, err = text(v); return err },
		"sha256":      func(v canon.Value) (err error) { sum, err = text(v); return err },
	}
	if v.Kind() != canon.Object || v.Len() != len(fields) {
		return Pin{}, errBook
	}
	for _, m := range v.Members() {
		read, ok := fields[m.Name]
		if !ok {
			return Pin{}, errBook
		}
		if err := read(m.Value); err != nil {
			return Pin{}, err
		}
	}
	var err error
	if p.SHA256, err = canon.ParseDigest(sum); err == nil && !filepath.IsAbs(p.Program) {
		err = errBook
	}
	return p, err
}

func text(v canon.Value) (string, error) {
	if v.Kind() != canon.String {
		return "", errBook
	}
	return v.Text(), nil
}

func texts(v canon.Value) ([]string, error) {
	if v.Kind() != canon.Array {
		return nil, errBook
	}
	var out []string
	for _, x := range v.Elements() {
		s, err := text(x)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func digests(v canon.Value, into map[string]canon.Digest) error {
	if v.Kind() != canon.Object {
		return errBook
	}
	for _, m := range v.Members() {
		s, err := text(m.Value)
		if err == nil {
			into[m.Name], err = canon.ParseDigest(s)
		}
		if err != nil {
			return errBook
		}
	}
	return nil
}
