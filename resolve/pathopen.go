package resolve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errMoved is the error of [Path.OpenFile] where the file system no longer is
// as it was when the path was answered.
var errMoved = errors.New("path is not real any more")

// OpenFile opens the file or folder of an answer as [os.OpenFile] does, but
// only if the answer still is its real path: a link that was put in the way
// meanwhile is refused, also one that stays below the root. With os.O_CREATE
// a new file is made only where nothing is.
//
// It is for tools in Go. The error holds no part of the path.
func (p *Path) OpenFile(answer string, flag int, perm fs.FileMode) (*os.File, error) {
	root, rel, ok := p.Below(answer)
	if !ok {
		return nil, errMoved
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, errMoved
	}
	defer func() { r.Close() }()
	names := strings.Split(filepath.ToSlash(rel), "/")
	for _, name := range names[:len(names)-1] {
		next, err := enterReal(r, name)
		if err != nil {
			return nil, err
		}
		r.Close()
		r = next
	}
	return openReal(r, names[len(names)-1], flag, perm)
}

// enterReal opens a folder that is an entry itself and no link: what was
// opened is the very thing that was no link when it was looked at.
func enterReal(r *os.Root, name string) (*os.Root, error) {
	info, err := r.Lstat(name)
	if err != nil || !info.IsDir() {
		return nil, errMoved
	}
	next, err := r.OpenRoot(name)
	if err != nil {
		return nil, errMoved
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(info, opened) {
		next.Close()
		return nil, errMoved
	}
	return next, nil
}

// openReal opens the last component. It empties a file only after it knows
// which one it has.
func openReal(r *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	info, err := r.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		f, err := r.OpenFile(name, flag|os.O_EXCL, perm)
		if err != nil {
			return nil, errMoved
		}
		return f, nil
	case err != nil || !info.IsDir() && !info.Mode().IsRegular():
		return nil, errMoved
	}
	f, err := r.OpenFile(name, flag&^(os.O_CREATE|os.O_TRUNC), perm)
	if err != nil {
		return nil, errMoved
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = errMoved
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, errMoved
	}
	return f, nil
}
