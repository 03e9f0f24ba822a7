package sink

import "os"

// SetWrite replaces how a file is written.
func (f *File) SetWrite(write func(*os.File, []byte) (int, error)) { f.write = write }
