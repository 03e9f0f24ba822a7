package uses_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
	"github.com/seed-de4804fb/verbatim/warrant/uses"
)

// The variables of an executor process: where its memory is, and the file that
// its runs go to.
const (
	placeVariable  = "WARRANT_USES_PLACE"
	ledgerVariable = "WARRANT_USES_LEDGER"
	audience       = "payments.example"
)

func TestMain(m *testing.M) {
	if place := os.Getenv(placeVariable); place != "" {
		if err := execute(place, os.Getenv(ledgerVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func openDatabase(place string) (*sql.DB, error) {
	driver, source, _ := strings.Cut(place, " ")
	return sql.Open(driver, source)
}

// memory opens the memory of a place.
func memory(ctx context.Context, place string, now func() time.Time) (warrant.Seen, func(), error) {
	if dir, found := strings.CutPrefix(place, "dir:"); found {
		m, err := uses.OpenDirectory(dir, now)
		return m, func() {}, err
	}
	db, err := openDatabase(place)
	if err != nil {
		return nil, nil, err
	}
	m, err := uses.OpenTable(ctx, db, "uses", now)
	return m, func() { db.Close() }, err
}

func open(t *testing.T, place string, now func() time.Time) warrant.Seen {
	t.Helper()
	m, end, err := memory(t.Context(), place, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return m
}

func gateway() (*keys.Signer, error) {
	return keys.NewSigner(keys.Warrants, bytes.Repeat([]byte{5}, 32))
}

// execute is one process of an executor. It ends with its standard input.
func execute(place, ledger string) error {
	m, end, err := memory(context.Background(), place, nil)
	if err != nil {
		return err
	}
	defer end()
	signer, err := gateway()
	if err != nil {
		return err
	}
	checker, err := warrant.New(warrant.Config{Audience: audience, Keys: signer.Public(), Seen: m})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(ledger, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	guard := &warrant.Guard{Checker: checker}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: guard.Handle("pay.transfer", func(w http.ResponseWriter, _ *http.Request, c warrant.Call) {
		if _, err := fmt.Fprintln(file, c.Warrant.Action); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})}
	fmt.Println(l.Addr())
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // until the test ends
		server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// executor starts a process and returns its address; "" if it has none.
func executor(t *testing.T, place, ledger string) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), placeVariable+"="+place, ledgerVariable+"="+ledger)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Error(err)
		return ""
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return ""
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("an executor: %v", err)
		}
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		return ""
	}
	return "http://" + lines.Text()
}

// twoExecutors gives two processes, which begin at once, every warrant at the
// same moment: exactly one of them runs it.
func twoExecutors(t *testing.T, k kind) {
	t.Helper()
	n := 1000
	if testing.Short() {
		n = 100
	}
	place, ledger := k.place(t), t.TempDir()+"/ledger"
	addresses := make([]string, 2)
	var begun sync.WaitGroup
	for i := range addresses {
		begun.Go(func() { addresses[i] = executor(t, place, ledger) })
	}
	begun.Wait()
	if addresses[0] == "" || addresses[1] == "" {
		t.Fatal("an executor does not listen")
	}
	time.Sleep(2 * time.Millisecond) // the memory begins a millisecond after it is made
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for j := i; j < n; j += 8 {
				race(t, addresses, fmt.Sprintf("act_%d", j))
			}
		})
	}
	clients.Wait()
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	ran := strings.Fields(string(text))
	slices.Sort(ran)
	if len(ran) != n || len(slices.Compact(ran)) != n {
		t.Errorf("%d runs of %d warrants", len(ran), n)
	}
}

// race presents a warrant to all processes at once.
func race(t *testing.T, addresses []string, action string) {
	envelope, err := signed(action)
	if err != nil {
		t.Error(err)
		return
	}
	verdicts := make([]string, len(addresses))
	var all sync.WaitGroup
	for i, at := range addresses {
		all.Go(func() { verdicts[i] = present(t, at, envelope) })
	}
	all.Wait()
	slices.Sort(verdicts)
	if !slices.Equal(verdicts, []string{"ok", "replayed"}) {
		t.Errorf("%s: %v", action, verdicts)
	}
}

const args = `{"amount":5}`

func signed(action string) ([]byte, error) {
	signer, err := gateway()
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	return warrant.Warrant{Issuer: "gateway", Audience: audience, Kind: warrant.Mutation, Tenant: "acme", Principal: "maria",
		Agent: "support", Tool: "pay.transfer", Action: action, Attempt: 1, Fence: 1, ProviderKey: "k", Errors: warrant.Reported,
		Proposal: warrant.ProposalHash("support", "pay.transfer", args), Args: canon.Sum([]byte(args)), IssuedAt: now, SendBy: now.Add(warrant.MaxLife)}.Sign(signer)
}

// present sends a warrant to an executor, and returns its verdict.
func present(t *testing.T, at string, envelope []byte) string {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(args))
	if err != nil {
		t.Error(err)
		return ""
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(warrant.Header, warrant.Encode(envelope))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return ""
	}
	answer.Body.Close()
	return answer.Header.Get(warrant.VerdictHeader)
}
