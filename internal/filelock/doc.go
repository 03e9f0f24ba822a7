// Package filelock lets one process at a time have something that a file
// stands for.
//
// In: the path of the file, which is made where it is not there. Out: a [Lock],
// or [ErrTaken] while another holds it, in this process or elsewhere. The
// system frees it when the process ends, however it ends, so no lock is ever
// left behind. It promises nothing on a file system of the network, and it must
// never remove the file: who waits for a lock would wait for another file's.
package filelock
