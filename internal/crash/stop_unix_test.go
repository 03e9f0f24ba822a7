//go:build unix

package crash_test

import (
	"syscall"
	"time"
)

// end ends this process as kill -9 does.
func end() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}

// stop stops this process until somebody continues it. The signal may reach
// another thread first; this one waits for it.
func stop() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	time.Sleep(20 * time.Millisecond)
}
