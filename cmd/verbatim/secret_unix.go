//go:build unix

package main

import "os"

// exposed reports whether others than the owner can read a file.
func exposed(info os.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
