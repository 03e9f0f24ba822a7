package crash_test

import (
	"runtime"
	"syscall"
)

// stop stops this process until somebody continues it. The signal goes to this
// thread, which stops all of them as it comes back from the call: sent to the
// process it is handled by any, when that gets a processor.
func stop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGSTOP)
}
