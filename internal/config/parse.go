package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// parse reads one YAML document into c. It collects every mistake.
func parse(file string, text []byte, c *Config) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) { // an empty file says nothing
		return nil
	}
	if err != nil {
		return syntax(file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than one document", file)
	}
	r := reader{file: file}
	r.object(doc.Content[0], "", map[string]field{
		"agent":     words(&c.Agent),
		"listen":    func(r *reader, n *yaml.Node, at string) { r.listen(n, at, c) },
		"origin":    func(r *reader, n *yaml.Node, at string) { r.origin(n, at, &c.Origin) },
		"tls":       func(r *reader, n *yaml.Node, at string) { c.TLS = r.certificate(n, at, c) },
		"catalog":   words(&c.Catalog),
		"policy":    words(&c.Policy),
		"candidate": words(&c.Candidate),
		"oidc":      func(r *reader, n *yaml.Node, at string) { c.OIDC = r.oidc(n, at) },
		"wait":      duration(&c.Wait, time.Millisecond, MaxWait),
		"idle":      duration(&c.Idle, MinIdle, MaxIdle),
		"keepKeys":  duration(&c.KeepKeys, DefaultKeepKeys, MaxKeepKeys),
		"retention": func(r *reader, n *yaml.Node, at string) { c.Retention = r.retention(n, at) },
		"servers":   func(r *reader, n *yaml.Node, at string) { c.Servers = r.servers(n, at) },
		"store":     func(r *reader, n *yaml.Node, at string) { c.Postgres = r.store(n, at) },
		"witnesses": func(r *reader, n *yaml.Node, at string) { c.Witnesses = r.witnesses(n, at) },
		"telemetry": func(r *reader, n *yaml.Node, at string) { c.OTLP = r.telemetry(n, at) },
		"sinks": func(r *reader, n *yaml.Node, at string) {
			c.Sinks = r.sinks(n, at)
			r.last = append(r.last, func() { r.collected(n, at, c) })
		},
		"metrics": func(r *reader, n *yaml.Node, at string) { c.Metrics = r.metrics(n, at) },
		"endpoint": func(r *reader, n *yaml.Node, at string) {
			c.Endpoint = r.endpoint(n, at)
			r.last = append(r.last, func() { r.behind(n, at, c) })
		},
	})
	for _, check := range r.last {
		check()
	}
	return errors.Join(r.faults...)
}

// shownName is a name that no field has, as an error may tell it: to clients of
// the daemon, too. What is no misspelled field may be a secret in the wrong
// place.
func shownName(name string) string {
	letters := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	if !letters || len(name) > maxShownName {
		return "<unknown>"
	}
	return name
}

const (
	maxShownName = 24
	noAnchors    = "anchors, aliases and tags are not read; write the value out"
)

// syntax words what is no YAML at all. The library says the line in its text.
func syntax(file, text string) error {
	if strings.Contains(text, "unknown anchor") { // and names it
		text = noAnchors
	}
	if line, rest, found := strings.Cut(strings.TrimPrefix(text, "line "), ": "); found {
		if n, err := strconv.Atoi(line); err == nil {
			return fmt.Errorf("%s:%d: %s", file, n, rest)
		}
	}
	return fmt.Errorf("%s: %s", file, text)
}

// reader collects the mistakes of one file.
type reader struct {
	file   string
	faults []error
	last   []func() // checks of one part against another
}

// field reads the value of one field.
type field func(r *reader, n *yaml.Node, at string)

func (r *reader) fault(n *yaml.Node, at, format string, args ...any) {
	if at != "" {
		at += ": "
	}
	r.faults = append(r.faults, fmt.Errorf("%s:%d: %s%s", r.file, n.Line, at, fmt.Sprintf(format, args...)))
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// each calls read for every member of a mapping. Keys that come twice,
// anchors, aliases and tags have two readings and are mistakes.
func (r *reader) each(n *yaml.Node, at string, read func(key, value *yaml.Node, at string)) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, at, "must be a mapping")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		here := join(at, key.Value)
		first, twice := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			r.fault(key, at, "a key must be a plain word")
		case twice:
			r.fault(key, here, "comes twice, first in line %d", first)
		case value.Kind == yaml.AliasNode || value.Anchor != "" || value.Style&yaml.TaggedStyle != 0:
			r.fault(value, here, noAnchors)
		default:
			read(key, value, here)
		}
		seen[key.Value] = key.Line
	}
}

func (r *reader) object(n *yaml.Node, at string, fields map[string]field) {
	r.each(n, at, func(key, value *yaml.Node, here string) {
		read, known := fields[key.Value]
		if !known {
			r.fault(key, join(at, shownName(key.Value)), "there is no such field")
			return
		}
		read(r, value, here)
	})
}

// text returns a string that is not empty.
func (r *reader) text(n *yaml.Node, at string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" {
		r.fault(n, at, "must be text that is not empty; quote it")
		return "", false
	}
	return n.Value, true
}

func words(into *string) field {
	return func(r *reader, n *yaml.Node, at string) {
		if v, ok := r.text(n, at); ok {
			*into = v
		}
	}
}

func duration(into *time.Duration, low, high time.Duration) field {
	return func(r *reader, n *yaml.Node, at string) {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || d < low || d > high {
			r.fault(n, at, "must be a duration from %s to %s, such as 50s", low, high)
			return
		}
		*into = d
	}
}

func (r *reader) list(n *yaml.Node, at string) []string {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, at, "must be a list")
		return nil
	}
	var out []string
	for i, x := range n.Content {
		here := fmt.Sprintf("%s[%d]", at, i)
		if x.Kind != yaml.ScalarNode || x.ShortTag() != "!!str" {
			r.fault(x, here, "must be text; quote it")
			continue
		}
		out = append(out, x.Value)
	}
	return out
}

func (r *reader) variables(n *yaml.Node, at string) map[string]string {
	out := map[string]string{}
	r.each(n, at, func(key, value *yaml.Node, here string) {
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
			r.fault(value, here, "must be text; quote it")
			return
		}
		out[key.Value] = value.Value
	})
	return out
}
