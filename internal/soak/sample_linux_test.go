package soak_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// sample is what a gateway takes at a quiet moment.
type sample struct {
	residentKiB int // with the pages of the program that it has looked at
	ownKiB      int // of these, what is in no file
	goroutines  int
	files       int
}

// take measures a gateway.
func (g *gateway) take() (sample, error) {
	var s sample
	pid := g.process().Process.Pid
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return s, err
	}
	s.files = len(list)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return s, err
	}
	for name, into := range map[string]*int{"VmRSS:": &s.residentKiB, "RssAnon:": &s.ownKiB} {
		_, rest, _ := strings.Cut(string(text), name)
		number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if *into, err = strconv.Atoi(number); err != nil {
			return s, err
		}
	}
	cmd := exec.Command(binary, "status", "--json")
	cmd.Env = append(os.Environ(), "VERBATIM_HOME="+g.home)
	out, err := cmd.Output()
	if err != nil {
		return s, err
	}
	var status struct{ Goroutines int }
	err = json.Unmarshal(out, &status)
	s.goroutines = status.Goroutines
	if err == nil && s.goroutines == 0 {
		err = fmt.Errorf("the status says nothing of goroutines: %.200s", out)
	}
	return s, err
}

// The slack of what is flat: what caches and pools may still fill.
const (
	slackKiB        = 24 << 10
	slackOwnKiB     = 16 << 10
	slackGoroutines = 40
	slackFiles      = 24
)

// flat holds the last third of the samples against the first that are warm.
func flat(t *testing.T, name string, list []sample) {
	t.Helper()
	for i, s := range list {
		t.Logf("%s %2d: %3d MiB, %3d of its own, %3d goroutines, %3d files", name, i, s.residentKiB>>10, s.ownKiB>>10, s.goroutines, s.files)
	}
	if len(list) < 6 {
		t.Fatalf("%s: %d samples", name, len(list))
	}
	warm, late := most(list[len(list)/4:len(list)/2]), most(list[2*len(list)/3:])
	if late.residentKiB > warm.residentKiB*5/4+slackKiB || late.ownKiB > warm.ownKiB*5/4+slackOwnKiB || late.goroutines > warm.goroutines+slackGoroutines || late.files > warm.files+slackFiles {
		t.Errorf("%s grows: %+v, and late %+v", name, warm, late)
	}
}

func most(list []sample) (m sample) {
	for _, s := range list {
		m = sample{max(m.residentKiB, s.residentKiB), max(m.ownKiB, s.ownKiB), max(m.goroutines, s.goroutines), max(m.files, s.files)}
	}
	return m
}
