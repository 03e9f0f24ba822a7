package sqlite

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// mapRoom is how much of a file of the journal is written as memory, in bytes:
// about as much as comes before the writing goroutine does. What does not fit
// there is written the other way.
const mapRoom = 512 << 10

var errFault = errors.New("the memory of the journal is gone: its file was cut, or its disk failed")

// put copies b into the memory of a file. That of one that somebody has cut, or
// whose disk has failed, faults: here this is an error, and not the end of the
// process.
func put(memory, b []byte) error { return guarded(func() { copy(memory, b) }) }

// wipe fills the memory of a file with zeros.
func wipe(memory []byte) error { return guarded(func() { clear(memory) }) }

func guarded(touch func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if _, fault := p.(interface {
			runtime.Error
			Addr() uintptr
		}); !fault {
			panic(p)
		}
		err = errFault
	}()
	touch()
	return nil
}
