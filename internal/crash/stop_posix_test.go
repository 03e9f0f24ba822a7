//go:build unix && !linux

package crash_test

import (
	"syscall"
	"time"
)

// stop stops this process until somebody continues it. The signal may reach
// another thread first; this one waits for it.
func stop() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	time.Sleep(20 * time.Millisecond)
}
