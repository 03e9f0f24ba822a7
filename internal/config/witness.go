package config

import (
	"go.yaml.in/yaml/v3"
)

// Witness is one witness of the log.
type Witness struct {
	URL string
	Key string // its public key, name+hash+key
}

func (r *reader) witnesses(n *yaml.Node, at string) (out []Witness) {
	r.objects(n, at, func(n *yaml.Node, at string) {
		var w Witness
		r.object(n, at, map[string]field{
			"url": func(r *reader, n *yaml.Node, at string) { w.URL = r.address(n, at) },
			"key": words(&w.Key),
		})
		if w.URL == "" || w.Key == "" {
			r.fault(n, at, "a witness needs url and key")
		}
		out = append(out, w)
	})
	return out
}
