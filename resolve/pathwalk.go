package resolve

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links one path may lead through (Linux
// path_resolution(7)).
const maxLinks = 40

// walked is where a path leads.
type walked struct {
	path    string // real, with slashes
	info    fs.FileInfo
	missing bool // the last component is new; info is that of its folder
}

var errNoPath = errors.New("path leads to no file or folder")

// walk follows a path as the system does, component by component, so that
// ".." behind a link is the parent of where the link leads.
func (p *Path) walk(ctx context.Context, said saidPath) (walked, error) {
	w := walker{rules: p.rules, create: p.create, rest: said.names, folder: said.folder, here: walked{path: said.volume + "/"}}
	var err error
	if w.here.info, err = os.Lstat(w.here.path); err != nil {
		return walked{}, err
	}
	for len(w.rest) > 0 && !w.here.missing {
		if err := ctx.Err(); err != nil {
			return walked{}, err
		}
		name := w.rest[0]
		w.rest = w.rest[1:]
		if err := w.step(ctx, name); err != nil {
			return walked{}, err
		}
	}
	return w.here, nil
}

type walker struct {
	rules  pathRules
	create bool
	rest   []string
	folder bool
	here   walked // a real folder until the last step
	links  int
}

func (w *walker) step(ctx context.Context, name string) error {
	if name == ".." {
		return w.enter(parentOf(w.here.path))
	}
	at := below(w.here.path, name)
	info, err := os.Lstat(filepath.FromSlash(at))
	switch last := len(w.rest) == 0; {
	case errors.Is(err, fs.ErrNotExist) && last && !w.folder && w.create:
		w.here.path, w.here.missing = at, true
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return w.follow(at)
	case !info.IsDir() && !(info.Mode().IsRegular() && last && !w.folder):
		return errNoPath
	}
	onDisk, err := diskName(ctx, w.here.path, name, info)
	if err != nil {
		return err
	}
	at = below(w.here.path, onDisk)
	again, err := os.Lstat(filepath.FromSlash(at))
	if err != nil {
		return err
	}
	if again.Mode().Type() != info.Mode().Type() {
		return errNoPath // somebody changed it meanwhile
	}
	w.here = walked{path: at, info: again}
	return nil
}

// enter goes to a folder that is real already.
func (w *walker) enter(dir string) error {
	info, err := os.Lstat(filepath.FromSlash(dir))
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errNoPath
	}
	w.here = walked{path: dir, info: info}
	return nil
}

// follow puts the target of a link before the rest of the way.
func (w *walker) follow(at string) error {
	if w.links++; w.links > maxLinks {
		return errNoPath
	}
	target, err := os.Readlink(filepath.FromSlash(at))
	if err != nil {
		return err
	}
	to, ok := w.rules.splitTarget(target)
	if !ok {
		return errNoPath
	}
	if len(w.rest) == 0 {
		w.folder = w.folder || to.folder
	}
	w.rest = append(append([]string{}, to.names...), w.rest...)
	if to.absolute {
		return w.enter(to.volume + "/")
	}
	return nil
}

// splitTarget reads the target of a link. What a system wrote is not judged
// here, only where it leads.
func (r pathRules) splitTarget(target string) (saidPath, bool) {
	if r.windows {
		return r.split(target)
	}
	return splitSlashes(target), target != ""
}

func below(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// parentOf returns the parent of a real path; a root is its own.
func parentOf(real string) string {
	slash := strings.LastIndexByte(real, '/')
	if slash <= strings.IndexByte(real, '/') {
		return real[:slash+1]
	}
	return real[:slash]
}
