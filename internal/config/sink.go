package config

import (
	"net/netip"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Sink is where events go: exactly one of File, Webhook and OTLP.
type Sink struct {
	File    *FileSink
	Webhook *WebhookSink
	OTLP    bool // the collector that the file names
	// Runs adds the run record to the last event of each action.
	Runs bool
	// FromStart begins with the first record there is, where the sink is new.
	FromStart bool
}

// FileSink is a file of JSON lines.
type FileSink struct {
	Path     string
	MaxBytes int64 // 0 means the default
	Keep     int   // rotated files; 0 means the default
}

// WebhookSink is an address that batches are posted to.
type WebhookSink struct {
	URL      string
	Secret   Secret // that signs
	Key      string // its name in signatures
	Networks []netip.Prefix
	CA       *string // file of certificates that vouch for the address; nil: the system's alone
}

// The ranges of a file sink.
const (
	MinSinkBytes = 64 << 10
	MaxSinkBytes = 1 << 40
	MaxSinkKeep  = 1000
)

// SinkName is what a sink may be called.
var SinkName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

func (r *reader) sinks(n *yaml.Node, at string) map[string]Sink {
	out, paths := map[string]Sink{}, map[string]bool{}
	r.each(n, at, func(key, value *yaml.Node, here string) {
		if !SinkName.MatchString(key.Value) {
			r.fault(key, here, "a name has 1 to 40 of a-z, 0-9 and -")
		}
		s := r.sink(value, here)
		if s.File != nil {
			if paths[s.File.Path] {
				r.fault(value, here, "two sinks write to one file")
			}
			paths[s.File.Path] = true
		}
		out[key.Value] = s
	})
	return out
}

func (r *reader) sink(n *yaml.Node, at string) Sink {
	var s Sink
	r.object(n, at, map[string]field{
		"file":    func(r *reader, n *yaml.Node, at string) { s.File = r.fileSink(n, at) },
		"webhook": func(r *reader, n *yaml.Node, at string) { s.Webhook = r.webhook(n, at) },
		"otlp":    truth(&s.OTLP),
		"runs":    truth(&s.Runs),
		"from": func(r *reader, n *yaml.Node, at string) {
			s.FromStart = n.Value == "start"
			if n.Kind != yaml.ScalarNode || n.Value != "start" && n.Value != "next" {
				r.fault(n, at, "must be start or next")
			}
		},
	})
	kinds := 0
	for _, is := range []bool{s.File != nil, s.Webhook != nil, s.OTLP} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		r.fault(n, at, "needs exactly one of file, webhook and otlp")
	}
	return s
}

func truth(into *bool) field {
	return func(r *reader, n *yaml.Node, at string) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(into) != nil {
			r.fault(n, at, "must be true or false")
		}
	}
}

func (r *reader) fileSink(n *yaml.Node, at string) *FileSink {
	f := &FileSink{}
	if n.Kind == yaml.ScalarNode {
		words(&f.Path)(r, n, at)
		return f
	}
	r.object(n, at, map[string]field{
		"path": words(&f.Path),
		"maxBytes": func(r *reader, n *yaml.Node, at string) {
			f.MaxBytes = int64(r.number(n, at, MinSinkBytes, MaxSinkBytes))
		},
		"keep": func(r *reader, n *yaml.Node, at string) { f.Keep = r.number(n, at, 1, MaxSinkKeep) },
	})
	if f.Path == "" {
		r.fault(n, join(at, "path"), "is needed")
	}
	return f
}

func (r *reader) webhook(n *yaml.Node, at string) *WebhookSink {
	w := &WebhookSink{Key: "verbatim"}
	r.object(n, at, map[string]field{
		"url": words(&w.URL),
		"key": words(&w.Key),
		"secret": func(r *reader, n *yaml.Node, at string) {
			r.object(n, at, r.secretFields(&w.Secret))
			if err := w.Secret.check(); err != nil {
				r.fault(n, at, "%v", err)
			}
		},
		"ca": func(r *reader, n *yaml.Node, at string) {
			w.CA = new(string)
			words(w.CA)(r, n, at)
		},
		"networks": func(r *reader, n *yaml.Node, at string) { w.Networks = r.networks(n, at) },
	})
	if w.URL == "" || w.Secret.IsZero() {
		r.fault(n, at, "needs url and secret: whoever takes events must know whose they are")
	}
	if !SinkName.MatchString(w.Key) {
		r.fault(n, join(at, "key"), "has 1 to 40 of a-z, 0-9 and -")
	}
	return w
}

func (r *reader) networks(n *yaml.Node, at string) (out []netip.Prefix) {
	for _, text := range r.list(n, at) {
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Bits() == 0 {
			r.fault(n, at, "must be networks such as 10.1.0.0/16, and not every address there is")
			continue
		}
		out = append(out, p)
	}
	return out
}

// collected checks that sinks of the collector have one.
func (r *reader) collected(n *yaml.Node, at string, c *Config) {
	for name, s := range c.Sinks {
		if s.OTLP && c.OTLP == nil {
			r.fault(n, join(at, name), "sends to the collector, which telemetry.otlp does not name")
		}
	}
}
