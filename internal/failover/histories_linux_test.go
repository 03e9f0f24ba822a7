package failover_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	verbatim "github.com/seed-de4804fb/verbatim"
	"github.com/seed-de4804fb/verbatim/store/postgres"
	"github.com/seed-de4804fb/verbatim/store/storetest"
)

// quarrel is a cluster whose stores are used by clients of one history after
// the other.
func quarrel(t *testing.T, sync bool, histories int, disturb func(s *scene)) []string {
	t.Helper()
	s := &scene{cluster: newCluster(t, sync), draw: rand.New(rand.NewPCG(rand.Uint64(), 1)), stopped: -1}
	harms := 0
	list := storetest.Unexplained(t, storetest.Disturbance{
		Unknown: postgres.ErrUnknown, Histories: histories, Ops: 960,
		Open: func(t *testing.T, now func() time.Time) (out []verbatim.Store) {
			for i := range gateways {
				st, err := openStore(s.front(i), now, func(o *postgres.Options) { o.RequireSync = sync })
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { st.Close() })
				out = append(out, st)
			}
			return out
		},
		Disturb: func(over <-chan struct{}) {
			for {
				select {
				case <-over:
					return
				case <-time.After(200*time.Millisecond + s.random(500*time.Millisecond)):
				}
				disturb(s)
				harms++
			}
		},
	})
	t.Logf("%d faults", harms)
	return list
}

func (s *scene) random(most time.Duration) time.Duration {
	return time.Duration(s.draw.Int64N(int64(most)))
}

func TestHistoriesUnderFaultsHaveAnOrder(t *testing.T) {
	if os.Getenv(order) != "" {
		return // a gateway
	}
	t.Parallel()
	var round []fault
	histories := setting(t, "VERBATIM_FAULT_HISTORIES", 8)
	if testing.Short() {
		histories = 2
	}
	list := quarrel(t, true, histories, func(s *scene) {
		if len(round) == 0 {
			round = quarrels()
			s.draw.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		}
		t.Log(round[0].name)
		round[0].do(s)
		round = round[1:]
	})
	for _, history := range list {
		t.Errorf("no order explains this history:\n%s", history)
	}
}

// TestHistoryThatLostACommitHasNoOrder: with standbys that commits do not wait
// for, a failover takes back what clients were told.
func TestHistoryThatLostACommitHasNoOrder(t *testing.T) {
	if os.Getenv(order) != "" {
		return // a gateway
	}
	t.Parallel()
	if list := quarrel(t, false, 4, lag); len(list) == 0 {
		t.Error("every history has an order: this test is blind")
	}
}
