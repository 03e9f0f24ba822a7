package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/typed"
)

// maxBody is the longest request body, in bytes: an environment fits.
const maxBody = 4 << 20

// Refusal is the answer to a request that was not carried out.
type Refusal struct {
	Status int    `json:"status"` // of HTTP
	Text   string `json:"error"`  // one sentence, without argument values
}

func (r *Refusal) Error() string { return r.Text }

func refuse(status int, text string) error { return &Refusal{status, text} }

// decodeBody reads exactly one JSON document of the given shape.
func decodeBody(r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	v, err := canon.Decode(body, canon.Options{MaxBytes: maxBody})
	if err == nil {
		err = typed.Decode(v, into)
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "the request cannot be read: "+err.Error())
	}
	return nil
}

// answer is the one shape of a handler: a document or an error.
func answer(serve func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := serve(r)
		if err != nil {
			writeRefusal(w, err)
			return
		}
		writeJSON(w, http.StatusOK, v)
	}
}

func writeRefusal(w http.ResponseWriter, err error) {
	var refused *Refusal
	if !errors.As(err, &refused) {
		refused = &Refusal{http.StatusInternalServerError, err.Error()}
	}
	writeJSON(w, refused.Status, refused)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // whoever asked may have gone
}
