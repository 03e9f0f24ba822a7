package verifier_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/internal/needs"
)

func stored(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// earlier is a bundle that no code of ours has written, with its keys.
func earlier(t *testing.T) (s *scene, bundle []byte) {
	t.Helper()
	s = &scene{t: t, node: needs.Peer(t, "node"), dir: t.TempDir(), keys: string(stored(t, "earlier.keys"))}
	s.file("keys.txt", []byte(s.keys))
	return s, stored(t, "earlier.bundle")
}

func TestBothBelieveAnEarlierBundle(t *testing.T) {
	t.Parallel()
	s, text := earlier(t)
	b, err := audit.ParseBundle(text)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := audit.VerifyBundle(b, s.trust())
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for _, step := range ours.Steps {
		events = append(events, step.Event)
	}
	if diff := cmp.Diff([]string{"action_suspended", "vote_approve", "action_approved", "action_claimed", "action_started", "action_succeeded"}, events); diff != "" {
		t.Error(diff)
	}
	first := ours.Steps[0].Opened
	_, evidence := first["evidence"]
	_, facts := first["facts"]
	if evidence || facts || first["arguments"] != `{"amount":840000,"to":"VENDOR-001"}` || len(ours.Votes) != 1 || !strings.Contains(ours.Votes[0].Payload, `"v":1,`) {
		t.Errorf("it is not of the earlier form: %v, %+v", first, ours.Votes)
	}
	said, code := s.verify(s.file("earlier.bundle", text))
	if code != 0 {
		t.Fatalf("theirs: %v", said)
	}
	theirs := said["bundles"].([]any)[0].(map[string]any)
	if steps := theirs["steps"].([]any); len(steps) != len(ours.Steps) || theirs["log"] != ours.Log || theirs["size"] != float64(ours.Size) ||
		len(steps[0].(map[string]any)["opened"].(map[string]any)) != len(first) {
		t.Errorf("ours %+v\ntheirs %v", ours, theirs)
	}
}

func TestTheEarlierBundleIsMadeAgainFromItsWords(t *testing.T) {
	t.Parallel()
	s, text := earlier(t)
	var none []any
	if code := s.run(&none, nil, filepath.Join("testdata", "earlier.mjs"), s.dir); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	again, err := os.ReadFile(filepath.Join(s.dir, "earlier.bundle"))
	if err != nil || !bytes.Equal(again, text) {
		t.Errorf("the stored bundle is not what its program writes: %v", err)
	}
}

func TestBothRefuseABundleOfAnotherVersion(t *testing.T) {
	t.Parallel()
	s, text := earlier(t)
	for _, version := range []string{"0", "2"} {
		other := bytes.Replace(text, []byte(`,"v":1,"votes":`), []byte(`,"v":`+version+`,"votes":`), 1)
		if bytes.Equal(other, text) {
			t.Fatal("nothing was changed")
		}
		want := "version " + version + " of bundles is not known here"
		if _, err := audit.ParseBundle(other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ours, version %s: %v", version, err)
		}
		if said, code := s.verify(s.file("other.bundle", other)); code != 1 || !strings.Contains(said["refused"].(string), want) {
			t.Errorf("theirs, version %s: %v", version, said)
		}
	}
}
