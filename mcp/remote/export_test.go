package remote

// Sweep looks after the connections that wait for a request now, and returns
// how many are left.
func (l *Line) Sweep() int {
	l.near.sweep()
	l.near.mu.Lock()
	defer l.near.mu.Unlock()
	return len(l.near.idle)
}
