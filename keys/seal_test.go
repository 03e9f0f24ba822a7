package keys_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/keys"
)

func sealer(t testing.TB, secrets ...[]byte) *keys.Sealer {
	t.Helper()
	s, err := keys.NewSealer(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealedBytesOpenInTheirPlaceOnly(t *testing.T) {
	t.Parallel()
	s := sealer(t, seed(1))
	at := keys.Place{Tenant: "acme", Row: "act_1", Field: "args"}
	sealed, err := s.Seal(at, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := s.Open(at, sealed); err != nil || string(plain) != "secret" {
		t.Fatalf("%q, %v", plain, err)
	}
	for name, place := range map[string]keys.Place{
		"another tenant":      {Tenant: "rival", Row: at.Row, Field: at.Field},
		"another row":         {Tenant: at.Tenant, Row: "act_2", Field: at.Field},
		"another field":       {Tenant: at.Tenant, Row: at.Row, Field: "raw"},
		"texts cut elsewhere": {Tenant: "acmea", Row: "ct_1", Field: at.Field},
		"row and field cut":   {Tenant: at.Tenant, Row: "act_1a", Field: "rgs"},
		"nowhere":             {},
	} {
		if plain, err := s.Open(place, sealed); !errors.Is(err, keys.ErrSealed) || plain != nil {
			t.Errorf("%s: %q, %v", name, plain, err)
		}
	}
}

func TestEveryChangedByteOfASealIsNoticed(t *testing.T) {
	t.Parallel()
	s := sealer(t, seed(1))
	at := keys.Place{Tenant: "acme", Row: "act_1", Field: "args"}
	sealed, err := s.Seal(at, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := s.Open(at, changed); !errors.Is(err, keys.ErrSealed) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := s.Open(at, sealed[:i]); !errors.Is(err, keys.ErrSealed) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

func TestOldSealsOpenAfterRotation(t *testing.T) {
	t.Parallel()
	at := keys.Place{Tenant: "acme", Row: "act_1", Field: "args"}
	old := sealer(t, seed(1))
	sealed, err := old.Seal(at, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	rotated := sealer(t, seed(2), seed(1))
	if rotated.KeyID() == old.KeyID() {
		t.Fatal("the new key has the id of the old one")
	}
	if plain, err := rotated.Open(at, sealed); err != nil || string(plain) != "secret" {
		t.Fatalf("%q, %v", plain, err)
	}
	fresh, err := rotated.Seal(at, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Open(at, fresh); !errors.Is(err, keys.ErrSealed) {
		t.Fatalf("the old key opens what the new one sealed: %v", err)
	}
}

func TestSealerNeedsWholeKeys(t *testing.T) {
	t.Parallel()
	for name, secrets := range map[string][][]byte{"none": {}, "short": {seed(1)[:31]}, "long": {append(seed(1), 0)}, "an empty one behind": {seed(1), nil}} {
		if _, err := keys.NewSealer(secrets...); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSealRoundTripAndNeverRepeats(t *testing.T) {
	t.Parallel()
	s := sealer(t, seed(1))
	rapid.Check(t, func(r *rapid.T) {
		at := keys.Place{Tenant: rapid.String().Draw(r, "tenant"), Row: rapid.String().Draw(r, "row"), Field: rapid.String().Draw(r, "field")}
		plain := rapid.SliceOf(rapid.Byte()).Draw(r, "plain")
		one, err := s.Seal(at, plain)
		if err != nil {
			r.Fatal(err)
		}
		two, err := s.Seal(at, plain)
		if err != nil {
			r.Fatal(err)
		}
		if bytes.Equal(one, two) {
			r.Fatal("two seals of one text are equal")
		}
		got, err := s.Open(at, one)
		if err != nil || !bytes.Equal(got, plain) {
			r.Fatalf("%q, %v", got, err)
		}
	})
}

// TestSealedTextsCanShareMemory seals texts behind each other, as a row does,
// and opens each by itself.
func TestSealedTextsCanShareMemory(t *testing.T) {
	t.Parallel()
	s := sealer(t, seed(1))
	shelf := keys.Shelf{Class: 1, Day: 20000}
	row := s.Row("acme", "act_1", shelf)
	all, ends := []byte("before"), []int{len("before")}
	var err error
	texts := []string{"first", "", strings.Repeat("x", 3000)}
	for _, text := range texts {
		if all, err = row.AppendSeal(all, "args", text); err != nil {
			t.Fatal(err)
		}
		if size := len(all) - ends[len(ends)-1]; size != keys.SealedSize(len(text)) {
			t.Errorf("%d bytes for %d", size, len(text))
		}
		ends = append(ends, len(all))
	}
	for i, text := range texts {
		sealed := all[ends[i]:ends[i+1]]
		plain, err := s.Open(keys.Place{Tenant: "acme", Row: "act_1", Field: "args", Shelf: shelf}, sealed)
		if err != nil || string(plain) != text {
			t.Errorf("text %d opens as %d bytes: %v", i, len(plain), err)
		}
		if _, err := s.Open(keys.Place{Tenant: "acme", Row: "act_1", Field: "raw", Shelf: shelf}, sealed); !errors.Is(err, keys.ErrSealed) {
			t.Errorf("text %d opens as another field: %v", i, err)
		}
	}
	if string(all[:ends[0]]) != "before" {
		t.Error("what stood before was changed")
	}
}
