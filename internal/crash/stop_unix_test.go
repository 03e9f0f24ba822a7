//go:build unix

package crash_test

import "syscall"

// end ends this process as kill -9 does.
func end() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}
