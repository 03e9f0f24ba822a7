//go:build windows

package gate

import (
	"os/exec"
	"syscall"
)

const createNewProcessGroup = 0x00000200

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: createNewProcessGroup}
}

// endGroup ends the server; one that has ended already is no failure.
func endGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
