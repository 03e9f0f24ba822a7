//go:build unix

package daemon

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// detach gives the daemon a session of its own: it must not end with the
// terminal or the client that started it, nor keep their files open.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // a system without that list; the files stay open
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd) // Go's own are so already; these were inherited
		}
	}
}
