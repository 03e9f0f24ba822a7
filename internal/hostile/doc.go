// Package hostile holds servers and clients that mean harm, scripted against
// the built binary: verbatim serve before servers over both transports, and
// verbatim wrap.
//
// Each script says what it sends and what may come of it. Of all of them
// holds: every client is answered in time, no tool runs but the one that
// policy allows with the very arguments that it decided on, no secret of one
// side is seen by another, and the daemon's memory and open files stay
// bounded.
//
// It holds tests only. They build the binary and start this test binary again
// as the hostile servers.
package hostile
