package endpoint

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Resource is what the endpoint says about itself to clients that look for
// its authorization servers (RFC 9728).
type Resource struct {
	// URL is the endpoint's own, as tokens name it in their audience.
	URL     string
	Servers []string // issuers
	Scopes  []string
}

const wellKnown = "/.well-known/oauth-protected-resource"

// describes reports whether the metadata stand at a path (RFC 9728 §3.1).
func (r *Resource) describes(path, endpoint string) bool {
	return path == wellKnown || path == wellKnown+endpoint
}

// location is the URL of the metadata.
func (r *Resource) location(endpoint string) string {
	return strings.TrimSuffix(r.URL, endpoint) + wellKnown + endpoint
}

func (r *Resource) serve(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "this method is not served")
		return
	}
	text, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}{r.URL, r.Servers, r.Scopes, []string{"header"}})
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the metadata could not be written")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // whoever asked may have gone
}
