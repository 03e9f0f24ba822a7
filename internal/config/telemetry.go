package config

import (
	"net/netip"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// OTLP is a collector of OpenTelemetry.
type OTLP struct {
	URL      string // /v1/traces and so on are added
	Header   string // that carries Secret; "" sends none
	Secret   Secret // the whole value of the header
	Networks []netip.Prefix
	CA       *string // file of certificates that vouch for the address; nil: the system's alone

	Traces, Metrics bool
	Sample          float64 // part of calls that have spans
	Interval        time.Duration
}

// The ranges of a collector.
const (
	DefaultInterval = time.Minute
	MinInterval     = time.Second
	MaxInterval     = time.Hour
)

func (r *reader) telemetry(n *yaml.Node, at string) (o *OTLP) {
	r.object(n, at, map[string]field{"otlp": func(r *reader, n *yaml.Node, at string) { o = r.otlp(n, at) }})
	if o == nil {
		r.fault(n, join(at, "otlp"), "is needed")
	}
	return o
}

func (r *reader) otlp(n *yaml.Node, at string) *OTLP {
	o := &OTLP{Traces: true, Metrics: true, Sample: 1, Interval: DefaultInterval}
	r.object(n, at, map[string]field{
		"url":      words(&o.URL),
		"header":   words(&o.Header),
		"traces":   truth(&o.Traces),
		"metrics":  truth(&o.Metrics),
		"interval": duration(&o.Interval, MinInterval, MaxInterval),
		"networks": func(r *reader, n *yaml.Node, at string) { o.Networks = r.networks(n, at) },
		"ca": func(r *reader, n *yaml.Node, at string) {
			o.CA = new(string)
			words(o.CA)(r, n, at)
		},
		"secret": func(r *reader, n *yaml.Node, at string) {
			r.object(n, at, r.secretFields(&o.Secret))
			if err := o.Secret.check(); err != nil {
				r.fault(n, at, "%v", err)
			}
		},
		"sample": func(r *reader, n *yaml.Node, at string) {
			v, err := strconv.ParseFloat(n.Value, 64)
			if o.Sample = v; n.Kind != yaml.ScalarNode || err != nil || !(v > 0 && v <= 1) {
				r.fault(n, at, "must be a number above 0, and at most 1")
			}
		},
	})
	if o.URL == "" {
		r.fault(n, join(at, "url"), "is needed")
	}
	if (o.Header == "") != o.Secret.IsZero() {
		r.fault(n, at, "header and secret come together")
	}
	return o
}
