package auth_test

import (
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/auth"
)

func TestWhatIsSaidOfALoginIsSignedForOneVote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good, err := b.accounts.SignVote(t.Context(), "Alice", password, shown(true))
	if err != nil {
		t.Fatal(err)
	}
	other, err := b.accounts.SignVote(t.Context(), "Alice", password, shown(true))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.accounts.VerifyVote(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*action.Vote){
		"a later login":       func(v *action.Vote) { v.LoginAt = v.LoginAt.Add(time.Minute) },
		"no time":             func(v *action.Vote) { v.LoginAt = time.Time{} },
		"a time alone":        func(v *action.Vote) { v.Login = nil },
		"another way":         func(v *action.Vote) { v.Method = auth.MethodOIDC },
		"that of another":     func(v *action.Vote) { v.Login = other.Login },
		"the vote's envelope": func(v *action.Vote) { v.Login = v.Envelope },
		"another byte":        func(v *action.Vote) { v.Login = append([]byte(" "), v.Login...) },
	} {
		v := good
		change(&v)
		if err := b.accounts.VerifyVote(t.Context(), v); err == nil {
			t.Errorf("%s: the vote holds", name)
		}
	}
	before := good // made by a version that said nothing of logins
	before.Login, before.LoginAt = nil, time.Time{}
	if err := b.accounts.VerifyVote(t.Context(), before); err != nil {
		t.Errorf("a vote of before: %v", err)
	}
}
