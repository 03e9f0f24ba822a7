package warrant_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

// A service stands its handler behind a guard. The handler finds the canonical
// arguments in the body, and the attempt's own idempotency key.
func ExampleGuard() {
	gateway, err := keys.NewSigner(keys.Warrants, bytes.Repeat([]byte{1}, 32))
	if err != nil {
		fmt.Println(err)
		return
	}
	checker, err := warrant.New(warrant.Config{Audience: "payments.example", Keys: gateway.Public()})
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := &warrant.Guard{Checker: checker}
	mux := http.NewServeMux()
	mux.Handle("POST /transfer", guard.Wrap("pay.transfer", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var args struct {
			Amount int64 `json:"amount"`
		}
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Println("pays", args.Amount)
	})))

	// What the gateway signs, once the attempt is recorded.
	args := `{"amount":5}`
	now := time.Now().UTC().Truncate(time.Millisecond)
	envelope, err := warrant.Warrant{Issuer: "gateway", Audience: "payments.example", Kind: warrant.Mutation, Tenant: "acme", Principal: "maria",
		Agent: "support", Tool: "pay.transfer", Action: "act_1", Attempt: 1, Fence: 1, ProviderKey: "k", Errors: warrant.Reported,
		Proposal: warrant.ProposalHash("support", "pay.transfer", args), Args: canon.Sum([]byte(args)), IssuedAt: now, SendBy: now.Add(30 * time.Second)}.Sign(gateway)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{`{"amount":500}`, `{"amount":5.0}`, `{"amount":5}`} {
		r := httptest.NewRequest(http.MethodPost, "/transfer", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(warrant.Header, warrant.Encode(envelope))
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get(warrant.VerdictHeader))
	}
	// Output:
	// 403 arguments_changed
	// pays 5
	// 200 ok
	// 409 replayed
}
