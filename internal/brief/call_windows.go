package brief

import "errors"

// ErrNothingYet says that a stream has nothing to read, or no room, at the moment.
var ErrNothingYet = errors.New("not yet")

// Read does nothing: a read of a pipe cannot be tried here.
func Read(uintptr, []byte) (int, error) { return 0, ErrNever }

func write(uintptr, []byte) (int, error) { return 0, ErrNever }
