package sink_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/sink"
)

func count(from, n int64) (out []int64) {
	for i := range n {
		out = append(out, from+i)
	}
	return out
}

// rules are what holds on every store.
func rules() map[string]func(*world) {
	return map[string]func(*world){
		"every record is delivered in order":                         everyRecordIsDeliveredInOrder,
		"new sink begins with the next record unless told otherwise": newSinkBeginsWithTheNextRecordUnlessToldOtherwise,
		"target that is away loses nothing and shows as lag":         targetThatIsAwayLosesNothingAndShowsAsLag,
		"target that hangs is cut off and holds up nobody":           targetThatHangsIsCutOffAndHoldsUpNobody,
		"what was taken but not acknowledged comes again":            whatWasTakenButNotAcknowledgedComesAgain,
		"later process goes on where the earlier stopped":            laterProcessGoesOnWhereTheEarlierStopped,
		"of several gateways one delivers":                           ofSeveralGatewaysOneDelivers,
		"log that cannot be read delays and loses nothing":           logThatCannotBeReadDelaysAndLosesNothing,
	}
}

func everyRecordIsDeliveredInOrder(w *world) {
	k := &taker{}
	stop := w.running(w.sinks("one", sink.Config{Name: "siem", Target: k, FromStart: true}))
	w.record(150)
	w.until("150 events", func() bool { return len(k.taken()) >= 150 })
	stop()
	if diff := cmp.Diff(count(0, 150), indexes(k.taken())); diff != "" {
		w.Errorf("(-want +got):\n%s", diff)
	}
}

func newSinkBeginsWithTheNextRecordUnlessToldOtherwise(w *world) {
	w.record(3)
	late, all := &taker{}, &taker{}
	s := w.sinks("one", sink.Config{Name: "late", Target: late}, sink.Config{Name: "all", Target: all, FromStart: true})
	s.Flush(w.Context())
	w.record(2)
	s.Flush(w.Context())
	if diff := cmp.Diff(count(3, 2), indexes(late.taken())); diff != "" {
		w.Errorf("late (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(count(0, 5), indexes(all.taken())); diff != "" {
		w.Errorf("all (-want +got):\n%s", diff)
	}
}

func targetThatIsAwayLosesNothingAndShowsAsLag(w *world) {
	k := &taker{fail: func(int) error { return errAway }}
	s := w.sinks("one", sink.Config{Name: "siem", Target: k, FromStart: true})
	stop := w.running(s)
	defer stop()
	w.record(4)
	w.until("a failure", func() bool { return w.lag(s).Failures > 2 })
	if l := w.lag(s); l.Records != 4 || !l.Failing || l.Delivered != 0 || l.Age < 0 {
		w.Errorf("lag %+v", l)
	}
	k.set(func(k *taker) { k.fail = nil })
	w.until("no lag", func() bool { return w.lag(s).Records == 0 })
	w.until("no failure", func() bool { return !w.lag(s).Failing })
	if diff := cmp.Diff(count(0, 4), indexes(k.taken())); diff != "" {
		w.Errorf("(-want +got):\n%s", diff)
	}
}

func targetThatHangsIsCutOffAndHoldsUpNobody(w *world) {
	slow, quick := &taker{slow: true}, &taker{}
	s := w.sinks("one", sink.Config{Name: "slow", Target: slow, FromStart: true}, sink.Config{Name: "quick", Target: quick, FromStart: true})
	stop := w.running(s)
	w.record(5) // the store's verbs wait for no sink
	w.until("the other sink", func() bool { return len(quick.taken()) == 5 })
	w.until("a second try", func() bool {
		all, err := s.Lags(w.Context())
		return err == nil && all[0].Failures > 1 && all[1].Records == 0
	})
	stop()
}

func whatWasTakenButNotAcknowledgedComesAgain(w *world) {
	k := &taker{after: errAway}
	s := w.sinks("one", sink.Config{Name: "siem", Target: k, FromStart: true})
	w.record(3)
	s.Flush(w.Context())
	k.set(func(k *taker) { k.after = nil })
	s.Flush(w.Context())
	if diff := cmp.Diff(append(count(0, 3), count(0, 3)...), indexes(k.taken())); diff != "" {
		w.Errorf("(-want +got):\n%s", diff)
	}
	first, second := k.taken()[:3], k.taken()[3:]
	for i := range first {
		if first[i].ID != second[i].ID {
			w.Errorf("event %d has another id the second time", i)
		}
	}
}

func laterProcessGoesOnWhereTheEarlierStopped(w *world) {
	k := &taker{}
	w.record(2)
	w.sinks("one", sink.Config{Name: "siem", Target: k, FromStart: true}).Flush(w.Context())
	w.record(2)
	// The lease of a process that was killed lasts a moment; the next one has its own name.
	next := w.sinks("two", sink.Config{Name: "siem", Target: k, FromStart: true})
	next.Flush(w.Context())
	if got := indexes(k.taken()); !slices.Equal(got, count(0, 2)) {
		w.Errorf("delivered under another's lease: %v", got)
	}
	if l := w.lag(next); l.Records != 2 {
		w.Errorf("lag %+v", l)
	}
	w.sinks("one", sink.Config{Name: "siem", Target: k}).Flush(w.Context())
	if diff := cmp.Diff(count(0, 4), indexes(k.taken())); diff != "" {
		w.Errorf("(-want +got):\n%s", diff)
	}
}

func ofSeveralGatewaysOneDelivers(w *world) {
	k := &taker{}
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	for _, owner := range []string{"one", "two", "three"} {
		s := w.sinks(owner, sink.Config{Name: "siem", Target: k, FromStart: true})
		go s.Run(ctx)
	}
	w.record(60)
	w.until("60 events", func() bool { return len(k.taken()) >= 60 })
	if diff := cmp.Diff(count(0, 60), indexes(k.taken())); diff != "" {
		w.Errorf("(-want +got):\n%s", diff)
	}
}

func logThatCannotBeReadDelaysAndLosesNothing(w *world) {
	k := &taker{}
	flaky := &flakyLog{Log: w.store}
	s, err := sink.New(flaky, []sink.Config{{Name: "siem", Target: k, FromStart: true}}, sink.Options{Owner: "one"})
	if err != nil {
		w.Fatal(err)
	}
	w.record(3)
	for range 60 {
		s.Flush(w.Context())
	}
	got := indexes(k.taken())
	slices.Sort(got) // some came twice
	if diff := cmp.Diff(count(0, 3), slices.Compact(got)); diff != "" {
		w.Errorf("(-want +got):\n%s", diff)
	}
	if flaky.failed == 0 {
		w.Error("the log never failed")
	}
	if l := w.lag(w.sinks("one", sink.Config{Name: "siem", Target: k})); l.Records != 0 {
		w.Errorf("lag %+v", l)
	}
}

func TestSinkNeedsANameAndATarget(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]sink.Config{
		"no name":   {{Target: &taker{}}},
		"no target": {{Name: "a"}},
		"twice":     {{Name: "a", Target: &taker{}}, {Name: "a", Target: &taker{}}},
	} {
		if _, err := sink.New(nil, list, sink.Options{Owner: "one"}); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := sink.New(nil, nil, sink.Options{}); err == nil {
		t.Error("no owner: taken")
	}
}
