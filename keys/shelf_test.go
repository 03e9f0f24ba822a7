package keys_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/keys"
)

// on is a place on a shelf.
func on(class byte, day uint16, row string) keys.Place {
	return keys.Place{Tenant: "acme", Row: row, Field: "args", Shelf: keys.Shelf{Class: class, Day: day}}
}

func TestDaysCountFrom1970AndStopAtTheirEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint16{"1970-01-01T00:00:00Z": 0, "1970-01-02T00:00:00Z": 1, "1969-06-01T00:00:00Z": 0,
		"2026-11-30T23:59:59Z": 20787, "2026-12-01T00:30:00+01:00": 20787, "2149-06-06T12:00:00Z": 65535, "2300-01-01T00:00:00Z": 65535} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := keys.DayOf(at); got != want {
			t.Errorf("%s: day %d, want %d", text, got, want)
		}
	}
}

// kept says what a model of some sets expects to open.
type kept struct {
	before map[byte]uint16
	erased map[keys.Place]bool
	held   map[keys.Place]bool
}

func (m *kept) opens(p keys.Place) bool {
	return !m.erased[p] && (p.Shelf.Day >= m.before[p.Shelf.Class] || m.held[p])
}

// TestForgottenDaysOpenNowhereAndHeldRowsDo compares random days that are
// forgotten and rows that are erased with a model, in the ring and in one
// opened again.
func TestForgottenDaysOpenNowhereAndHeldRowsDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "ring")
		if err != nil {
			rt.Fatal(err)
		}
		dir = filepath.Join(dir, "keys")
		r := ring(t, dir)
		s, err := r.Sealer()
		if err != nil {
			rt.Fatal(err)
		}
		m := &kept{before: map[byte]uint16{}, erased: map[keys.Place]bool{}, held: map[keys.Place]bool{}}
		var all []keys.Place
		sealed := map[keys.Place][]byte{}
		for i := range rapid.IntRange(1, 10).Draw(rt, "rows") {
			p := on(rapid.ByteRange(0, 3).Draw(rt, "class"), rapid.Uint16Range(20780, 20790).Draw(rt, "day"), fmt.Sprint("act_", i))
			if sealed[p], err = s.Seal(p, []byte("secret")); err != nil {
				rt.Fatal(err)
			}
			all = append(all, p)
		}
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
			m.step(rt, r, all)
		}
		again, err := ring(t, dir).Sealer()
		if err != nil {
			rt.Fatal(err)
		}
		for _, p := range all {
			for name, s := range map[string]*keys.Sealer{"the ring that forgot": s, "a ring opened since": again} {
				plain, err := s.Open(p, sealed[p])
				if want := m.opens(p); want != (err == nil) || want && string(plain) != "secret" || !want && !errors.Is(err, keys.ErrErased) {
					rt.Fatalf("%s, %+v, expected to open: %v: %q, %v", name, p, want, plain, err)
				}
			}
		}
	})
}

// step erases a row, or forgets days but for some rows.
func (m *kept) step(rt *rapid.T, r *keys.Ring, all []keys.Place) {
	if rapid.Bool().Draw(rt, "one row") {
		p := rapid.SampledFrom(all).Draw(rt, "row")
		if err := r.Erase(p); err != nil {
			rt.Fatal(err)
		}
		m.erased[p] = true
		return
	}
	before := keys.Shelf{Class: rapid.ByteRange(1, 3).Draw(rt, "class"), Day: rapid.Uint16Range(20780, 20791).Draw(rt, "day")}
	var held []keys.Place
	for _, p := range all {
		could := m.opens(p)
		wanted := rapid.Bool().Draw(rt, "held")
		if wanted {
			held = append(held, p)
		}
		if p.Shelf.Class == before.Class && p.Shelf.Day < before.Day {
			m.held[p] = wanted && could
			m.erased[p] = !m.held[p]
		}
	}
	if err := r.Forget([]keys.Shelf{before}, false, held...); err != nil {
		rt.Fatal(err)
	}
	m.before[before.Class] = max(m.before[before.Class], before.Day)
}

// TestForgettingADayTakesNoRoom: what is forgotten lies side by side, so the
// file stays as small as it was, and rows erased on those days leave nothing.
func TestForgettingADayTakesNoRoom(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	r := ring(t, dir)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "seal.key"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	forget := func(day uint16) {
		if err := r.Forget([]keys.Shelf{{Class: 1, Day: day}, {Class: 2, Day: day}, {Class: 3, Day: day - 300}}, true); err != nil {
			t.Fatal(err)
		}
	}
	most := int64(0)
	for day := uint16(20000); day < 20400; day += 9 {
		forget(day)
		most = max(most, size())
	}
	if most > 8<<10 {
		t.Errorf("up to %d bytes for 400 days of three classes", most)
	}
	before := size()
	for i := range 20 {
		if err := r.Erase(on(1, 20420, fmt.Sprint("act_", i))); err != nil {
			t.Fatal(err)
		}
	}
	if size() < before+100<<10 {
		t.Fatalf("20 rows took %d bytes only: the test is blind", size()-before)
	}
	forget(20421)
	if size() > most+1024 {
		t.Errorf("%d bytes once their day is forgotten, %d before", size(), before)
	}
}

// TestWhatWasSealedBeforeThereWereShelvesOpensUntilItIsForgotten reads a file
// and sealed bytes that an earlier version wrote.
func TestWhatWasSealedBeforeThereWereShelvesOpensUntilItIsForgotten(t *testing.T) {
	t.Parallel()
	erased, err1 := hex.DecodeString("01f94cb5838a053b98f482c40513becef01ce122903e50fa4f1806b5cbc65190fcd5ca57dd4b0fc303ae6f")
	left, err2 := hex.DecodeString("01f94cb5838a053b98ac6a135bde49f5e416dd1bf00bdabd45a0ca1125c332ba741f218f08fc842449d2b6")
	punctured, err3 := os.ReadFile(filepath.Join("testdata", "seal-v1.key"))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a whole key": "verbatim-key-v1 " + hex.EncodeToString(seed(1)) + "\n", "what was left of one": string(punctured)} {
		dir := filepath.Join(t.TempDir(), "keys")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "seal.key"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		r := ring(t, dir)
		first, err := r.Sealer()
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := first.Seal(on(1, 20787, "act_3"), []byte("new"))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Erase(at("act_1")); err != nil {
			t.Fatal(err)
		}
		check := func(when string, oldOpens bool) {
			s, err := ring(t, dir).Sealer()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open(at("act_1"), erased); !errors.Is(err, keys.ErrErased) {
				t.Errorf("%s, %s: the erased row: %v", name, when, err)
			}
			if plain, err := s.Open(at("act_2"), left); (err == nil) != oldOpens || oldOpens && string(plain) != "secret" || !oldOpens && !errors.Is(err, keys.ErrErased) {
				t.Errorf("%s, %s: the row that was left: %q, %v", name, when, plain, err)
			}
			if plain, err := s.Open(on(0, 0, "act_3"), fresh); err != nil || string(plain) != "new" {
				t.Errorf("%s, %s: the new row: %q, %v", name, when, plain, err)
			}
		}
		check("after erasing", true)
		if err := r.Forget([]keys.Shelf{{Class: 1, Day: 20700}}, true, at("act_2")); err != nil {
			t.Fatal(err)
		}
		check("while it is held", true)
		if err := r.Forget(nil, true); err != nil {
			t.Fatal(err)
		}
		check("after all", false)
	}
}
