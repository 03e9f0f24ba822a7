package netguard_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-de4804fb/verbatim/internal/netguard"
)

func TestPostSendsWhatItIsGivenAndTakesAnyAnswerFrom200To299(t *testing.T) {
	t.Parallel()
	for status := range map[int]bool{200: true, 202: true, 204: true} {
		var got []string
		l := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			got = append(got, r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), string(body))
			if err != nil {
				got = append(got, err.Error())
			}
			w.WriteHeader(status)
		})
		c := client(t, netguard.Options{Networks: networks("127.0.0.1/32")}, nil)
		if err := c.Post(t.Context(), "http://127.0.0.1:"+l.port+"/in?a=b", http.Header{"Content-Type": {"text/x"}}, []byte("body")); err != nil {
			t.Errorf("%d: %v", status, err)
		}
		if want := "POST /in?a=b text/x body"; strings.Join(got, " ") != want {
			t.Errorf("%d: received %q", status, got)
		}
	}
}

func TestPostThatIsNotTakenFailsWithoutTheURL(t *testing.T) {
	t.Parallel()
	goal := serve(t, false, say("secret"))
	for status, want := range map[int]error{302: netguard.ErrRedirect, 307: netguard.ErrRedirect, 400: netguard.ErrRefused, 401: netguard.ErrRefused, 503: netguard.ErrRefused} {
		l := serve(t, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:"+goal.port+"/")
			w.WriteHeader(status)
		})
		err := client(t, netguard.Options{Networks: networks("127.0.0.1/32")}, nil).Post(t.Context(), "http://127.0.0.1:"+l.port+"/hidden", nil, nil)
		if !errors.Is(err, want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%d: %v, want %v", status, err, want)
		}
	}
	if goal.conns.Load() != 0 {
		t.Error("a redirect was followed")
	}
}

func TestPostGoesNoFurtherThanGet(t *testing.T) {
	t.Parallel()
	l := serve(t, false, say("secret"))
	c := client(t, netguard.Options{Networks: networks("8.8.8.8/32")}, nil)
	for _, host := range inner {
		if err := c.Post(t.Context(), "http://"+host+":"+l.port+"/", nil, []byte("x")); !errors.Is(err, netguard.ErrForbidden) && !errors.Is(err, netguard.ErrURL) {
			t.Errorf("%s: %v", host, err)
		}
	}
	secret := client(t, netguard.Options{Networks: networks("127.0.0.1/32"), Header: netguard.Header{Name: "X-Key", Value: "s"}}, nil)
	if err := secret.Post(t.Context(), "http://127.0.0.1:"+l.port+"/", nil, nil); !errors.Is(err, netguard.ErrSecret) {
		t.Errorf("a secret over plain HTTP: %v", err)
	}
	if n := l.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}
