package failover_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/pgtest"
)

// fault is one kind of harm. It returns when all is whole again, or at least
// could work.
type fault struct {
	name string
	do   func(s *scene)
}

// faults are all kinds. What a gateway that is stopped past its lease holds up
// is tried beside the others (scene.stopOne).
func faults() []fault {
	return []fault{
		{"gateway killed", func(s *scene) { s.pick().signal(syscall.SIGKILL) }},
		{"primary killed, started again", func(s *scene) { s.servers[s.primary].Crash(s.T); s.restart() }},
		{"primary killed, standby promoted", func(s *scene) {
			s.servers[s.primary].Crash(s.T)
			s.rejoin(s.promote(0, 1, 2))
		}},
		{"primary cut off from all but one gateway, standby promoted", splitBrain},
		{"network of a gateway cut", func(s *scene) {
			w := s.fronts[s.draw.IntN(gateways)]
			w.Cut(true)
			s.sleep(200*time.Millisecond, time.Second)
			w.Cut(false)
		}},
		{"network of a gateway half open", func(s *scene) {
			w := s.fronts[s.draw.IntN(gateways)]
			w.Hold(true)
			s.sleep(500*time.Millisecond, 2*time.Second)
			if s.draw.IntN(2) == 0 {
				w.Break() // what was on its way is lost
			}
			w.Hold(false)
		}},
		{"answers to commits lost", func(s *scene) { s.lose(pgtest.LoseAnswer) }},
		{"commits lost", func(s *scene) { s.lose(pgtest.LoseCommit) }},
		{"disk of the primary full", fullDisk},
		{"commits that wait for the standby cancelled, standby promoted", lyingCommits},
		{"both standbys away", func(s *scene) {
			s.cutStandbys(true)
			s.sleep(time.Second, 2*time.Second)
			s.cutStandbys(false)
			s.followed()
		}},
	}
}

// quarrels are the kinds that leave one primary at a time and make no commit
// lie: then what is read is true.
func quarrels() (out []fault) {
	for _, f := range faults() {
		switch f.name {
		case "gateway killed", "primary cut off from all but one gateway, standby promoted",
			"commits that wait for the standby cancelled, standby promoted":
		default:
			out = append(out, f)
		}
	}
	return out
}

// restart starts the primary again after a crash.
func (s *scene) restart() {
	s.sleep(0, 300*time.Millisecond)
	s.servers[s.primary].Restart(s.T)
	s.followed()
}

// splitBrain leaves one gateway with the old primary while the others have a
// new one.
func splitBrain(s *scene) {
	stays := s.draw.IntN(gateways)
	s.holdStandbys(true) // the old primary takes them for silent
	s.sleep(100*time.Millisecond, 400*time.Millisecond)
	before := s.promote((stays+1)%gateways, (stays+2)%gateways)
	s.sleep(500*time.Millisecond, 2*time.Second)
	s.servers[before].Crash(s.T)
	s.fronts[stays].Lead(s.servers[s.primary].Addr())
	s.rejoin(before)
}

// lose loses some commits of each gateway.
func (s *scene) lose(how pgtest.Loss) {
	var before, after int64
	for _, w := range s.fronts {
		before += w.Lost()
		w.Lose(how, 3)
	}
	for end := time.Now().Add(3 * time.Second); after-before < 6 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		after = 0
		for _, w := range s.fronts {
			after += w.Lost()
		}
	}
	for _, w := range s.fronts {
		w.Lose(how, 0)
	}
}

// fullDisk fills the file system of the primary until it has stopped, or for
// a while, and then makes room.
func fullDisk(s *scene) {
	dir := s.disks[s.primary]
	if dir == "" {
		s.Log("no small file system may be mounted here: a full disk is not tried")
		return
	}
	filler := filepath.Join(dir, "filler")
	before := s.servers[s.primary].Said(noSpace) // a server that writes meets the full disk while it is still being filled
	if err := fill(dir, filler); err != nil {
		s.Fatal(err)
	}
	s.feltFull(before)
	if err := os.Remove(filler); err != nil {
		s.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if !s.up(s.primary) {
		s.fulls++
		s.servers[s.primary].Restart(s.T)
	}
	s.followed()
}

// noSpace is what a server of PostgreSQL says where its disk is full.
const noSpace = "No space left on device"

// feltFull waits until the primary has said more often than before that its
// disk is full, and a moment longer. A history may have ended before, and
// nobody writes.
func (s *scene) feltFull(before int) {
	end := time.Now().Add(20 * time.Second)
	for s.servers[s.primary].Said(noSpace) == before {
		if time.Now().After(end) || s.driver == nil && time.Now().After(end.Add(-17*time.Second)) {
			if s.driver != nil {
				s.Error("the disk was full, and nobody said so")
			}
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(2 * time.Second)
}

// fill writes a file until nothing fits any more.
func fill(dir, filler string) error {
	f, err := os.Create(filler)
	if err != nil {
		return err
	}
	defer f.Close()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return err
	}
	size := int64(fs.Bavail) * fs.Bsize // somebody else writes too, so this may be too much
	for step := size; step >= fs.Bsize; {
		if err := syscall.Fallocate(int(f.Fd()), 0, size-step, step); err == nil {
			size += step
		} else if !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		step /= 2
	}
	return nil
}

// lyingCommits makes the primary say of commits that they are done although
// no standby has them, as an operator can, and then loses the primary.
func lyingCommits(s *scene) {
	s.holdStandbys(true)
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		n, err := ask(s.Context(), s.servers[s.primary].DSN(),
			"SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		if err == nil {
			s.lies += n
		}
	}
	s.servers[s.primary].Crash(s.T)
	s.rejoin(s.promote(0, 1, 2))
}

// lag kills the primary while its standbys are behind. Where commits do not
// wait for them, that loses what was acknowledged.
func lag(s *scene) {
	s.holdStandbys(true)
	time.Sleep(400 * time.Millisecond)
	s.servers[s.primary].Crash(s.T)
	s.rejoin(s.promote(0, 1, 2))
}

// scene is one run.
type scene struct {
	*cluster
	*driver
	draw    *rand.Rand
	stops   int
	stopped int   // number of the gateway that is stopped; -1 if none
	lies    int64 // commits that were said to be done and were not safe
	fulls   int   // times that a full disk ended the primary
}

// pick is a gateway that is not stopped.
func (s *scene) pick() *process {
	for {
		if i := s.draw.IntN(gateways); i != s.stopped {
			return s.gateways[i]
		}
	}
}

func (s *scene) sleep(least, most time.Duration) {
	time.Sleep(least + time.Duration(s.draw.Int64N(int64(most-least)+1)))
}
