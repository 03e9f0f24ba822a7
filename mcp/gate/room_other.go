//go:build !linux

package gate

// roomOf is what a pipe takes without a reader, in bytes.
func roomOf(any) int64 { return pipeRoom }
