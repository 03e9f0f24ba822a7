package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-de4804fb/verbatim/action"
)

// MaxRetention is the longest that a class of payloads is kept for a time.
const MaxRetention = 10 * 365 * 24 * time.Hour

// retention reads how long payloads are kept, by class. A class that is not
// named is kept until it is erased.
func (r *reader) retention(n *yaml.Node, at string) action.Retention {
	keep := make([]time.Duration, len(action.Classes()))
	fields := map[string]field{}
	for i, class := range action.Classes() {
		fields[class.String()] = duration(&keep[i], action.MinRetention, MaxRetention)
	}
	r.object(n, at, fields)
	out := action.Retention{}
	for i, class := range action.Classes() {
		if keep[i] > 0 {
			out[class] = keep[i]
		}
	}
	return out
}
