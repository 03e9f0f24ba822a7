package api

import (
	"sync"

	verbatim "github.com/seed-de4804fb/verbatim"
)

// places bounds how much one principal may hold open, whatever number of
// tokens it has.
type places struct {
	most int

	mu    sync.Mutex
	taken map[principal]int // absent where nothing is taken
}

type principal struct{ tenant, name string }

func newPlaces(most int) *places { return &places{most: most, taken: map[principal]int{}} }

// enter takes a place, if one is left; leave gives it back.
func (p *places) enter(s verbatim.Session) (leave func(), ok bool) {
	who := principal{s.Tenant, s.Principal}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken[who] >= p.most {
		return nil, false
	}
	p.taken[who]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.taken[who]--; p.taken[who] == 0 {
			delete(p.taken, who)
		}
	}, true
}
