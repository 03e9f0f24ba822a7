package resolve

import (
	"context"
	"io/fs"
	"strings"
)

// WindowsPath reads a path as Windows does, on any system.
func WindowsPath(text string) (string, bool) {
	said, ok := pathRules{windows: true}.split(text)
	if said.absolute {
		return said.volume + "/" + strings.Join(said.names, "/"), ok
	}
	return strings.Join(said.names, "/"), ok
}

// ReadName looks a name up in its folder.
func ReadName(ctx context.Context, dir, name string, info fs.FileInfo) (string, error) {
	return readName(ctx, dir, name, info)
}
