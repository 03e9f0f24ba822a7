//go:build unix

package daemon

import (
	"os/exec"
	"syscall"
)

// detach gives the daemon a session of its own: it must not end with the
// terminal or the client that started it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
