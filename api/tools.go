package api

import (
	"encoding/json"
	"net/http"
)

// offer is the tools that exist for a caller.
type offer struct {
	Tools []tool `json:"tools"`
}

// tool is what a model is told of one.
type tool struct {
	Name        string          `json:"toolName"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// tools lists what the caller may propose. What is closed, or not the
// caller's, does not exist.
func (a *API) tools(w http.ResponseWriter, r *request) {
	found, err := a.cfg.Calls.Tools(r.Context(), r.caller)
	if err != nil {
		a.unavailable(w, err)
		return
	}
	out := offer{Tools: []tool{}}
	for _, t := range found {
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	writeJSON(w, http.StatusOK, "application/json", out)
}
