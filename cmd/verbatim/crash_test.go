package main

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/daemon"
)

func TestKilledDaemonKeepsWhatWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "100ms")
	first := p.call(p.notesAgent(), "add", `{"text":"once"}`, "")
	p.setup()
	p.kill()
	if diff := cmp.Diff("no_approver", first.Code); diff != "" {
		t.Fatal(diff)
	}
	if out, err := p.command("approvals", "list").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out) // it starts another daemon
	}
	p.approve(first.Action) // also before the client is back
	again := p.notesAgent()
	if got := p.call(again, "add", `{"text":"once"}`, ""); got.Text != "added" {
		t.Errorf("the approved call came back with %+v", got)
	}
	p.call(again, "add", `{"text":"once"}`, first.Action)
	if diff := cmp.Diff([]string{"once"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestDaemonKilledDuringARunLeavesItUncertainAndNeverRepeatsIt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "100ms")
	const slow = `{"text":"once","slowMs":20000}`
	a := p.notesAgent()
	first := p.call(a, "add", slow, "")
	p.setup()
	p.approve(first.Action)
	go func() { _, _ = callTool(p.context(), a, "add", slow, "") }() // its daemon dies under it
	p.eventually("the tool runs", func() bool { return len(p.written()) == 1 })
	p.kill()
	b := p.notesAgent()
	if got := p.call(b, "add", slow, ""); got.Code != "outcome_uncertain" {
		t.Errorf("the call again came back with %+v, want outcome_uncertain", got)
	}
	if got := p.call(b, "add", slow, first.Action); got.Code != "outcome_uncertain" {
		t.Errorf("the call with its approval came back with %+v, want outcome_uncertain", got)
	}
	if got := p.state(first.Action); got != "uncertain" {
		t.Errorf("state %s", got)
	}
	if diff := cmp.Diff([]string{"once"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	settled, err := p.daemon().Settle(p.context(), first.Action,
		daemon.Settlement{Happened: true, Reason: "the note is there", Name: "owner", Password: testPassword})
	if err != nil || settled.State != "reconciled_succeeded" {
		t.Errorf("settled: %s, %v", settled.State, err)
	}
	if got := p.call(b, "add", slow, ""); got.Code != "approval_required" || got.Action == first.Action {
		t.Errorf("once it is settled the same call comes back with %+v, want a proposal of its own", got)
	}
}

func TestStoppedDaemonFinishesTheRunThatItBegan(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "100ms")
	const slow = `{"text":"once","slowMs":1000}`
	a := p.notesAgent()
	first := p.call(a, "add", slow, "")
	p.setup()
	p.approve(first.Action)
	go func() { _, _ = callTool(p.context(), a, "add", slow, "") }() // its daemon ends under it
	p.eventually("the tool runs", func() bool { return len(p.written()) == 1 })
	if out, err := p.command("stop").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := p.command("open", "--print").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := p.state(first.Action); got != "succeeded" {
		t.Errorf("state %s, want succeeded", got)
	}
}

func TestKilledClientDoesNotStopTheRunThatItBegan(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "100ms")
	const slow = `{"text":"once","slowMs":1000}`
	a := p.notesAgent()
	first := p.call(a, "add", slow, "")
	p.setup()
	p.approve(first.Action)
	go func() { _, _ = callTool(p.context(), a, "add", slow, "") }() // nobody will hear the answer
	p.eventually("the tool runs", func() bool { return len(p.written()) == 1 })
	if err := a.wrap.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the run is recorded", func() bool { return p.state(first.Action) == "succeeded" })
	if diff := cmp.Diff([]string{"once"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestClientKilledWhileItWaitsFindsItsProposalAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10m")
	probe := p.notesAgent()
	p.setup()
	a := p.notesAgent()
	go func() { _, _ = callTool(p.context(), a, "add", `{"text":"once"}`, "") }() // it dies while waiting
	id := ""
	p.eventually("the call waits", func() bool {
		list, err := p.daemon().Actions(p.context(), "pending", 10)
		if err != nil || len(list.Actions) != 1 {
			return false
		}
		id = list.Actions[0].ID
		return true
	})
	if err := a.wrap.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the daemon notes that the caller is gone", func() bool {
		d, err := p.daemon().Action(p.context(), id)
		return err == nil && d.CallerGone
	})
	p.approve(id)
	if len(p.written()) != 0 {
		t.Error("it ran though nobody waits for it")
	}
	if got := p.call(probe, "add", `{"text":"once"}`, ""); got.Text != "added" {
		t.Errorf("the same call came back with %+v", got)
	}
	if diff := cmp.Diff([]string{"once"}, p.written()); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestWaitingCallRunsByItselfOnceApproved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10m")
	a := p.notesAgent()
	p.setup()
	answers := make(chan toolAnswer, 1)
	go func() {
		got, err := callTool(p.context(), a, "add", `{"text":"once"}`, "")
		if err != nil {
			t.Error(err)
		}
		answers <- got
	}()
	p.eventually("it is approved", func() bool {
		list, err := p.daemon().Actions(p.context(), "pending", 10)
		if err != nil || len(list.Actions) != 1 {
			return false
		}
		p.approve(list.Actions[0].ID)
		return true
	})
	if got := <-answers; got.Text != "added" {
		t.Errorf("the call came back with %+v", got)
	}
}

func TestManyWrapsStartOneDaemonAndShareOneStore(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10ms")
	const clients = 4
	agents := make([]agent, clients)
	var started sync.WaitGroup
	for i := range agents {
		started.Go(func() { agents[i] = p.notesAgent() })
	}
	started.Wait()
	if got := p.daemon().State.Attached; got != clients {
		t.Errorf("%d clients attached, want %d", got, clients)
	}
	for _, text := range []string{"a", "b", "c", "d"} {
		a := agents[text[0]-'a']
		if got := p.call(a, "add", `{"text":"`+text+`"}`, ""); got.Action == "" {
			t.Errorf("%s: %+v", text, got)
		}
	}
	list, err := p.daemon().Actions(p.context(), "pending", 100)
	if err != nil || len(list.Actions) != clients {
		t.Errorf("%d actions wait in one store, want %d (%v)", len(list.Actions), clients, err)
	}
}

func TestSecondDaemonIsRefusedTheLock(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "10ms")
	p.notesAgent()
	if lock, err := daemon.TakeLock(p.home); err == nil {
		t.Errorf("a second lock was given: %v", lock.Free())
	}
}
