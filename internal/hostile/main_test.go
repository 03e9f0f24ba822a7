package hostile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// binary is the program under test, built once.
var binary string

// childArg makes this test binary a hostile server: childArg SCRIPT WITNESS.
const childArg = "be-a-hostile-server"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == childArg {
		child(os.Args[2], os.Args[3])
		return
	}
	os.Exit(built(m))
}

func built(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "verbatim")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "../../cmd/verbatim").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
