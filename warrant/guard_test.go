package warrant_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/warrant"
)

// gateFor is a checker of the usual executor at the usual time.
func gateFor(t testing.TB) *warrant.Checker {
	t.Helper()
	now := at(t, usual)
	c, err := warrant.New(warrant.Config{Audience: audience, Keys: signer(t, 1).Public(), Now: func() time.Time { return now },
		Seen: warrant.NewMemory(func() time.Time { return at(t, began) })})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAGuardLetsRunNothingButWhatWasChecked(t *testing.T) {
	t.Parallel()
	header := warrant.Encode([]byte(sign(t, sample(t, plainArgs))))
	kind := []string{"application/json"}
	for name, tt := range map[string]struct {
		target  string
		headers http.Header
		body    string
		tool    string
		status  int
		verdict warrant.Verdict
	}{
		"as it was decided":            {"/", http.Header{warrant.Header: {header}, "Content-Type": kind}, plainArgs, "", 200, warrant.OK},
		"spelled differently":          {"/", http.Header{warrant.Header: {header}, "Content-Type": {"application/json; charset=utf-8"}}, ` {"\u0061":1.0}`, "", 200, warrant.OK},
		"changed":                      {"/", http.Header{warrant.Header: {header}, "Content-Type": kind}, `{"a":4711}`, "", 403, warrant.ArgumentsChanged},
		"no body":                      {"/", http.Header{warrant.Header: {header}, "Content-Type": kind}, ``, "", 403, warrant.ArgumentsChanged},
		"a body that is too long":      {"/", http.Header{warrant.Header: {header}, "Content-Type": kind}, plainArgs + strings.Repeat(" ", 1<<20), "", 403, warrant.ArgumentsChanged},
		"arguments in a query, too":    {"/?a=2", http.Header{warrant.Header: {header}, "Content-Type": kind}, plainArgs, "", 403, warrant.ArgumentsChanged},
		"a query without anything":     {"/?", http.Header{warrant.Header: {header}, "Content-Type": kind}, plainArgs, "", 403, warrant.ArgumentsChanged},
		"a form":                       {"/", http.Header{warrant.Header: {header}, "Content-Type": {"application/x-www-form-urlencoded"}}, plainArgs, "", 403, warrant.ArgumentsChanged},
		"no content type":              {"/", http.Header{warrant.Header: {header}}, plainArgs, "", 403, warrant.ArgumentsChanged},
		"two content types":            {"/", http.Header{warrant.Header: {header}, "Content-Type": {kind[0], kind[0]}}, plainArgs, "", 403, warrant.ArgumentsChanged},
		"a coded body":                 {"/", http.Header{warrant.Header: {header}, "Content-Type": kind, "Content-Encoding": {"gzip"}}, plainArgs, "", 403, warrant.ArgumentsChanged},
		"a coding behind an empty one": {"/", http.Header{warrant.Header: {header}, "Content-Type": kind, "Content-Encoding": {"", "gzip"}}, plainArgs, "", 403, warrant.ArgumentsChanged},
		"another tool":                 {"/", http.Header{warrant.Header: {header}, "Content-Type": kind}, plainArgs, "pay.refund", 403, warrant.WrongTool},
		"no warrant":                   {"/", http.Header{"Content-Type": kind}, plainArgs, "", 401, warrant.Malformed},
		"two warrants":                 {"/", http.Header{warrant.Header: {header, header}, "Content-Type": kind}, plainArgs, "", 401, warrant.Malformed},
		"a warrant that is no base64":  {"/", http.Header{warrant.Header: {header + "="}, "Content-Type": kind}, plainArgs, "", 401, warrant.Malformed},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var ran []string
			var told []warrant.Verdict
			g := &warrant.Guard{Checker: gateFor(t), Told: func(_ warrant.Warrant, v warrant.Verdict) { told = append(told, v) }}
			if tt.tool == "" {
				tt.tool = "pay.transfer"
			}
			h := g.Wrap(tt.tool, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.ContentLength != int64(len(body)) {
					t.Error(err, r.ContentLength)
				}
				ran = append(ran, string(body)+r.Header.Get("Idempotency-Key"))
			}))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.target, strings.NewReader(tt.body))
			r.Header = tt.headers
			r.Header.Set("Idempotency-Key", "theirs")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status || w.Header().Get(warrant.VerdictHeader) != string(tt.verdict) || strings.Contains(w.Body.String(), "4711") {
				t.Errorf("%d %s: %s", w.Code, w.Header(), w.Body)
			}
			want := []string(nil)
			if tt.verdict == warrant.OK {
				want = []string{plainArgs + `"pk_1"`}
			}
			if diff := cmp.Diff(want, ran); diff != "" || !slices.Equal(told, []warrant.Verdict{tt.verdict}) {
				t.Errorf("told %v, runs:\n%s", told, diff)
			}
		})
	}
}

func TestAGuardIsUsedUpOnce(t *testing.T) {
	t.Parallel()
	g := &warrant.Guard{Checker: gateFor(t)}
	runs := 0
	h := g.Handle("pay.transfer", func(_ http.ResponseWriter, _ *http.Request, c warrant.Call) {
		runs++
		if string(c.Args) != plainArgs || c.Warrant.Action != "act_1" || len(c.Envelope) == 0 {
			t.Errorf("%+v", c)
		}
	})
	for i, want := range []int{200, 409, 409} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(plainArgs))
		r.Header.Set(warrant.Header, warrant.Encode([]byte(sign(t, sample(t, plainArgs)))))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Errorf("time %d: %d %s", i+1, w.Code, w.Body)
		}
	}
	if runs != 1 {
		t.Errorf("it ran %d times", runs)
	}
	if h := (&warrant.Guard{}).Wrap("", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a guard of nothing let run") })); h != nil {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil))
	}
}

func TestTheParamsOfAToolCallAreChecked(t *testing.T) {
	t.Parallel()
	envelope := sign(t, sample(t, plainArgs))
	meta := `"_meta":{"` + warrant.MetaWarrant + `":` + envelope + `,"x":1}`
	empty := sign(t, sample(t, `{}`))
	for name, tt := range map[string]struct {
		params  string
		verdict warrant.Verdict
	}{
		"as it was decided":          {`{"name":"transfer","arguments":{"a":1},` + meta + `}`, warrant.OK},
		"spelled differently":        {` {` + meta + `, "arguments" : {"a":1e0}, "name":"transfer"}`, warrant.OK},
		"no arguments":               {`{"name":"transfer","_meta":{"` + warrant.MetaWarrant + `":` + empty + `}}`, warrant.OK},
		"changed":                    {`{"name":"transfer","arguments":{"a":2},` + meta + `}`, warrant.ArgumentsChanged},
		"left out":                   {`{"name":"transfer",` + meta + `}`, warrant.ArgumentsChanged},
		"arguments that are text":    {`{"name":"transfer","arguments":"{\"a\":1}",` + meta + `}`, warrant.ArgumentsChanged},
		"a number that is not exact": {`{"name":"transfer","arguments":{"a":1.00000000000000001},` + meta + `}`, warrant.ArgumentsChanged},
		"a member twice":             {`{"name":"transfer","arguments":{"a":1,"a":1},` + meta + `}`, warrant.Malformed},
		"arguments twice":            {`{"name":"transfer","arguments":{"a":2},"arguments":{"a":1},` + meta + `}`, warrant.Malformed},
		"another tool":               {`{"name":"refund","arguments":{"a":1},` + meta + `}`, warrant.WrongTool},
		"the catalog's name":         {`{"name":"pay.transfer","arguments":{"a":1},` + meta + `}`, warrant.WrongTool},
		"no name":                    {`{"arguments":{"a":1},` + meta + `}`, warrant.Malformed},
		"no warrant":                 {`{"name":"transfer","arguments":{"a":1},"_meta":{}}`, warrant.Malformed},
		"no _meta":                   {`{"name":"transfer","arguments":{"a":1}}`, warrant.Malformed},
		"a warrant that is text":     {`{"name":"transfer","arguments":{"a":1},"_meta":{"` + warrant.MetaWarrant + `":"x"}}`, warrant.Malformed},
		"no object":                  {`[]`, warrant.Malformed},
		"nothing":                    {``, warrant.Malformed},
	} {
		c := gateFor(t)
		got, v := c.CheckParams(t.Context(), []byte(tt.params))
		if v != tt.verdict || (v == warrant.OK) != (got.Args != nil) {
			t.Errorf("%s: %s %s, want %s", name, v, got.Args, tt.verdict)
		}
		if v != warrant.OK {
			continue
		}
		if _, v := c.CheckParams(t.Context(), []byte(tt.params)); v != warrant.Replayed {
			t.Errorf("%s, again: %s", name, v)
		}
	}
}
