package endpoint

import "time"

// IdleFor lets tests have sessions that are kept for less than an hour.
func (e *Endpoint) IdleFor(d time.Duration) { e.sessions.idle = d }
