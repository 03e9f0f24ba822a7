package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// RulePath is what a refusal of [Path] names when the text is no path that
// could be looked for. Its other rules are [RuleUnresolved] and
// [RuleAmbiguous].
const RulePath = "path"

// PathRules is the version of the rules of [Path].
const PathRules = "path-1"

// PathOptions configure a [Path] resolver.
type PathOptions struct {
	// Roots are the folders that answers lie in. Required; each must be an
	// absolute path of an existing folder without symbolic links, in the case
	// of the file system.
	Roots []string
	// Base is where relative paths start, itself like a root and below one.
	// Empty: relative paths are refused.
	Base string
	// Create accepts a last component that does not exist yet, in a folder
	// that does.
	Create bool
}

// Path turns a path into the real path of a file or folder below a root: no
// symbolic links, no "." and "..", the case of the file system, slashes
// between components on every system (C:/Users/x on Windows), none at the end.
//
// It asks the file system of the machine it runs on, so it must run where the
// tool does. A path outside of every root is refused in the same words as one
// that does not exist. Devices, sockets and pipes are refused, and so are
// names with control, format or private-use characters, with a backslash
// where it separates nothing, or with a word of mixed scripts.
//
// A ".." behind a symbolic link means one folder to the system and another to
// programs that shorten paths as text; where they differ the path is refused
// as ambiguous.
//
// An answer is true at the time it is given. What runs later must open it so
// that a link put in its way meanwhile leads nowhere else: see [Path.OpenFile].
type Path struct {
	rules   pathRules
	roots   []string // with slashes
	base    string
	create  bool
	version string
}

var _ Resolver = (*Path)(nil)

// NewPath checks the options against the file system.
func NewPath(opt PathOptions) (*Path, error) {
	p := &Path{rules: pathRules{windows: runtime.GOOS == "windows"}, create: opt.Create}
	if len(opt.Roots) == 0 {
		return nil, errors.New("a path resolver needs at least one root")
	}
	for _, root := range opt.Roots {
		real, err := p.realFolder(root)
		if err != nil {
			return nil, fmt.Errorf("root %q %w", root, err)
		}
		p.roots = append(p.roots, real)
	}
	p.roots = sorted(p.roots)
	if opt.Base != "" {
		real, err := p.realFolder(opt.Base)
		if err != nil {
			return nil, fmt.Errorf("base %q %w", opt.Base, err)
		}
		if _, _, ok := p.Below(real); !ok {
			return nil, fmt.Errorf("base %q lies below no root", opt.Base)
		}
		p.base = real
	}
	var err error
	p.version, err = configured(PathRules, textsMember("roots", p.roots), textMember("base", p.base),
		canon.Member{Name: "create", Value: canon.BoolValue(p.create)})
	return p, err
}

// realFolder returns a folder of the options with slashes, if it is real.
func (p *Path) realFolder(name string) (string, error) {
	said, ok := p.rules.split(name)
	if !ok || !said.absolute {
		return "", errors.New("is no absolute path of visible characters, in one script for each word")
	}
	found, err := p.walk(context.Background(), said)
	if err != nil || found.missing || !found.info.IsDir() {
		return "", errors.New("is no folder that can be read")
	}
	if want := said.volume + "/" + strings.Join(said.names, "/"); found.path != want {
		return "", fmt.Errorf("is not a real path; write %q", found.path)
	}
	return found.path, nil
}

// Below returns the longest root that an answer lies in, in the form of the
// system, and the rest of the answer relative to it; "." for the root itself.
// [os.OpenRoot] on root and then rel never leads out of the root;
// [Path.OpenFile] opens nothing but the answer itself.
func (p *Path) Below(answer string) (root, rel string, ok bool) {
	for _, r := range p.roots {
		inside := answer == r || strings.HasPrefix(answer, strings.TrimSuffix(r, "/")+"/")
		if inside && len(r) > len(root) {
			root, ok = r, true
		}
	}
	if !ok {
		return "", "", false
	}
	rel = strings.TrimPrefix(strings.TrimPrefix(answer, root), "/")
	if rel == "" {
		rel = "."
	}
	return filepath.FromSlash(root), filepath.FromSlash(rel), true
}

// Roles tells which roles the rule of a catalog may bind.
func (p *Path) Roles() Roles { return onlyValue() }

// What refusals expect. They are the same for every path, so that nobody can
// ask through them what exists outside of the roots.
const (
	pathForm     = "a path of visible characters in one script for each word, without a home folder, device or stream"
	pathExisting = "an existing file or folder below a root of the catalog"
	pathNew      = "a file or folder below a root of the catalog, or a new file in an existing folder there"
	pathOneWay   = `a path without ".." behind a symbolic link`
)

// Resolve answers the real path.
func (p *Path) Resolve(ctx context.Context, in map[string]canon.Value) (Answer, error) {
	text, err := valueText(in, RulePath, "a path as a string")
	if err != nil {
		return Answer{}, err
	}
	said, ok := p.rules.split(text)
	if !ok {
		return Answer{}, canon.Refuse("/"+RoleValue, RulePath, pathForm)
	}
	if !said.absolute {
		if said, ok = p.rules.join(p.base, said); !ok {
			return Answer{}, canon.Refuse("/"+RoleValue, RulePath, "an absolute path")
		}
	}
	found, ok := p.find(ctx, said)
	if !ok {
		if err := ctx.Err(); err != nil {
			return Answer{}, err
		}
		return Answer{}, canon.Refuse("/"+RoleValue, RuleUnresolved, p.expected())
	}
	if slices.Contains(said.names, "..") {
		asText, ok := p.find(ctx, said.shortened())
		if !ok || asText.path != found.path {
			return Answer{}, canon.Refuse("/"+RoleValue, RuleAmbiguous, pathOneWay)
		}
	}
	return textAnswer(p.version, found.path), nil
}

func (p *Path) expected() string {
	if p.create {
		return pathNew
	}
	return pathExisting
}

// find walks to a file or folder, which must lie below a root, have a name
// that can be shown, and be the same thing when it is reached through the
// root alone.
func (p *Path) find(ctx context.Context, said saidPath) (walked, bool) {
	found, err := p.walk(ctx, said)
	if err != nil {
		return walked{}, false
	}
	root, rel, ok := p.Below(found.path)
	if !ok || !p.rules.presentable(filepath.ToSlash(rel), found.missing) {
		return walked{}, false
	}
	return found, confirmed(root, rel, found)
}

// confirmed looks at a real path again through [os.Root], which follows no
// link out of the root: somebody may have moved folders during the walk.
func confirmed(root, rel string, found walked) bool {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer r.Close()
	info, err := r.Lstat(rel)
	if !found.missing {
		return err == nil && os.SameFile(info, found.info)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	parent, err := r.Lstat(filepath.FromSlash(path.Dir(filepath.ToSlash(rel))))
	return err == nil && os.SameFile(parent, found.info)
}
