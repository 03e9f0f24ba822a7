package identity_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/identity"
)

func session() identity.Session {
	return identity.Session{Tenant: "acme", Principal: "alice", Agent: "Support Agent"}
}

func decode(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{})
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return v
}

func principal(pointer string) []identity.Member {
	return []identity.Member{{Pointer: pointer, Names: identity.NamesPrincipal}}
}

// refused returns the pointers of the refusals.
func refused(t testing.TB, err error) []string {
	t.Helper()
	var vs canon.Violations
	if err == nil {
		return nil
	}
	if !errors.As(err, &vs) {
		t.Fatalf("want violations, got %v", err)
	}
	var at []string
	for _, v := range vs {
		if v.Rule != identity.RuleSpoof {
			t.Errorf("rule %s", v.Rule)
		}
		at = append(at, v.Pointer)
	}
	return at
}

func TestCheckNamesEveryWrongMember(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mark, args string
		want             []string
	}{
		{"equal", "/user", `{"user":"alice"}`, nil},
		{"absent", "/user", `{"other":"bob"}`, nil},
		{"other person", "/user", `{"user":"bob"}`, []string{"/user"}},
		{"null", "/user", `{"user":null}`, []string{"/user"}},
		{"number", "/user", `{"user":1}`, []string{"/user"}},
		{"boolean", "/user", `{"user":true}`, []string{"/user"}},
		{"empty string", "/user", `{"user":""}`, []string{"/user"}},
		{"array with the right name", "/user", `{"user":["alice"]}`, []string{"/user"}},
		{"object", "/user", `{"user":{"id":"alice"}}`, []string{"/user"}},
		{"upper case", "/user", `{"user":"Alice"}`, []string{"/user"}},
		{"space", "/user", `{"user":"alice "}`, []string{"/user"}},
		{"C01 Cyrillic look-alike", "/user", `{"user":"\u0430lice"}`, []string{"/user"}},
		{"full width", "/user", `{"user":"\uff41lice"}`, []string{"/user"}},
		{"zero width", "/user", `{"user":"ali\u200bce"}`, []string{"/user"}},
		{"NUL", "/user", `{"user":"alice\u0000"}`, []string{"/user"}},
		{"nested", "/meta/user", `{"meta":{"user":"bob"}}`, []string{"/meta/user"}},
		{"nested equal", "/meta/user", `{"meta":{"user":"alice"}}`, nil},
		{"null parent", "/meta/user", `{"meta":null}`, nil},
		{"scalar parent", "/meta/user", `{"meta":"bob"}`, []string{"/meta"}},
		{"array parent", "/meta/user", `{"meta":[{"user":"alice"}]}`, []string{"/meta"}},
		{"each element", "/users/*", `{"users":["alice","bob","alice",7]}`, []string{"/users/1", "/users/3"}},
		{"empty array", "/users/*", `{"users":[]}`, nil},
		{"each element of a scalar", "/users/*", `{"users":"bob"}`, []string{"/users"}},
		{"member of each element", "/rows/*/by", `{"rows":[{"by":"alice"},{},{"by":"bob"}]}`, []string{"/rows/2/by"}},
		{"scalar element", "/rows/*/by", `{"rows":["bob"]}`, []string{"/rows/0"}},
		{"each member of a map", "/map/*", `{"map":{"a":"alice","b":"bob"}}`, []string{"/map/b"}},
		{"member called star", "/map/*", `{"map":{"*":"bob"}}`, []string{"/map/*"}},
		{"index", "/pair/1", `{"pair":["x","bob"]}`, []string{"/pair/1"}},
		{"last index", "/pair/9", `{"pair":["0","1","2","3","4","5","6","7","8","bob"]}`, []string{"/pair/9"}},
		{"first index", "/pair/0", `{"pair":[]}`, nil},
		{"index with a leading zero", "/pair/01", `{"pair":["x","bob"]}`, nil},
		{"index past the end", "/pair/1", `{"pair":["x"]}`, nil},
		{"escaped name", "/a~1b", `{"a/b":"bob"}`, []string{"/a~1b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := identity.Check(session(), principal(c.mark), decode(t, c.args))
			if diff := cmp.Diff(c.want, refused(t, err)); diff != "" {
				t.Error(diff)
			}
			if err != nil && (strings.Contains(err.Error(), "alice") || strings.Contains(err.Error(), "bob")) {
				t.Errorf("the refusal prints a value: %v", err)
			}
		})
	}
}

func TestCheckKeepsPrincipalAndTenantApart(t *testing.T) {
	t.Parallel()
	marks := []identity.Member{
		{Pointer: "/user", Names: identity.NamesPrincipal},
		{Pointer: "/org", Names: identity.NamesTenant},
	}
	err := identity.Check(session(), marks, decode(t, `{"user":"acme","org":"alice"}`))
	if diff := cmp.Diff([]string{"/user", "/org"}, refused(t, err)); diff != "" {
		t.Error(diff)
	}
	if err := identity.Check(session(), marks, decode(t, `{"user":"alice","org":"acme"}`)); err != nil {
		t.Error(err)
	}
}

func TestCheckFailsOnWhatItCannotCompare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    identity.Session
		mark identity.Member
	}{
		"unknown mark":         {session(), identity.Member{Pointer: "/user", Names: "role"}},
		"no mark kind":         {session(), identity.Member{Pointer: "/user"}},
		"not a pointer":        {session(), identity.Member{Pointer: "user", Names: identity.NamesPrincipal}},
		"bad escape":           {session(), identity.Member{Pointer: "/~2", Names: identity.NamesPrincipal}},
		"root":                 {session(), identity.Member{Pointer: "", Names: identity.NamesPrincipal}},
		"session without name": {identity.Session{Tenant: "acme"}, identity.Member{Pointer: "/user", Names: identity.NamesPrincipal}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := identity.Check(c.s, []identity.Member{c.mark}, decode(t, `{"user":""}`)); err == nil {
				t.Error("passed")
			}
		})
	}
}

func TestOnlyTheExactPrincipalPasses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		who := rapid.StringN(1, 20, -1).Draw(t, "who")
		claim := rapid.OneOf(rapid.Just(who), rapid.Just(strings.ToUpper(who)), rapid.Just(who+" "), rapid.String()).Draw(t, "claim")
		s := identity.Session{Tenant: "t", Principal: who, Agent: "a"}
		args := canon.ObjectValue(canon.Member{Name: "user", Value: canon.StringValue(claim)})
		err := identity.Check(s, principal("/user"), args)
		if (err == nil) != (claim == who) {
			t.Fatalf("claim equals principal: %v, refused: %v", claim == who, err)
		}
	})
}

func TestCheckListsAtMostTwentyMembers(t *testing.T) {
	t.Parallel()
	args := decode(t, `{"users":[`+strings.Repeat(`"bob",`, 30)+`"bob"]}`)
	if at := refused(t, identity.Check(session(), principal("/users/*"), args)); len(at) != canon.MaxViolations {
		t.Errorf("%d refusals", len(at))
	}
}

func TestFillsGiveTheSessionsValues(t *testing.T) {
	t.Parallel()
	marks := []identity.Member{
		{Pointer: "/user", Names: identity.NamesPrincipal, Fill: true},
		{Pointer: "/seen", Names: identity.NamesPrincipal},
		{Pointer: "/rows/*/org", Names: identity.NamesTenant, Fill: true},
	}
	fills, err := identity.Fills(session(), marks)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fills {
		got = append(got, f.Pointer+"="+f.Value.Text())
	}
	if diff := cmp.Diff([]string{"/user=alice", "/rows/*/org=acme"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := identity.Fills(identity.Session{}, marks); err == nil {
		t.Error("an empty session filled a member")
	}
}

func TestValidateRefusesSessionsWithoutIdentity(t *testing.T) {
	t.Parallel()
	if err := session().Validate(); err != nil {
		t.Fatal(err)
	}
	longest := session()
	longest.Principal = strings.Repeat("x", identity.MaxNameBytes)
	if err := longest.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*identity.Session){
		"no tenant":             func(s *identity.Session) { s.Tenant = "" },
		"no principal":          func(s *identity.Session) { s.Principal = "" },
		"no agent":              func(s *identity.Session) { s.Agent = "" },
		"bad UTF-8":             func(s *identity.Session) { s.Principal = "a\xff" },
		"NUL":                   func(s *identity.Session) { s.Tenant = "a\x00" },
		"line break":            func(s *identity.Session) { s.Agent = "a\nb" },
		"C1 control":            func(s *identity.Session) { s.Owner = "a\u0085" },
		"control in task":       func(s *identity.Session) { s.Task = "\t" },
		"empty role":            func(s *identity.Session) { s.Roles = []string{""} },
		"control in role":       func(s *identity.Session) { s.Roles = []string{"a\x7f"} },
		"control in taint":      func(s *identity.Session) { s.Taint = []string{"\x1b"} },
		"grant without digest":  func(s *identity.Session) { s.Grant.ID = "g" },
		"grant without id":      func(s *identity.Session) { s.Grant.Digest = canon.Sum(nil) },
		"principal without end": func(s *identity.Session) { s.Principal = strings.Repeat("x", identity.MaxNameBytes+1) },
		"control in grant id":   func(s *identity.Session) { s.Grant = identity.Grant{ID: "\r", Digest: canon.Sum(nil)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session()
			change(&s)
			err := s.Validate()
			if err == nil {
				t.Fatal("valid")
			}
			if strings.ContainsAny(err.Error(), "\x00\n\r\t\x1b\x7f") || strings.Contains(err.Error(), "\xff") {
				t.Errorf("the error prints the value: %q", err)
			}
		})
	}
}
