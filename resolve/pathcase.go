package resolve

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// diskName returns a name as the folder has it. File systems may take another
// case, another Unicode normal form or a short name for the same file; a
// policy that compares bytes must not see two names for it.
//
// A name that no file system could take for another is believed; so is one
// whose other case is not there or is another file. Only else is the folder
// read.
func diskName(ctx context.Context, dir, name string, info fs.FileInfo) (string, error) {
	if plain := isASCII(name) && !strings.Contains(name, "~"); plain {
		other := swapCase(name)
		if other == name {
			return name, nil
		}
		twin, err := os.Lstat(filepath.FromSlash(below(dir, other)))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, twin) {
			return name, nil
		}
	}
	return readName(ctx, dir, name, info)
}

// readName looks a name up in its folder: as it is, else the one entry that
// is the same file under another spelling.
func readName(ctx context.Context, dir, name string, info fs.FileInfo) (string, error) {
	folder, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return "", err
	}
	defer folder.Close()
	want, found := norm.NFC.String(fold(name)), ""
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		entries, err := folder.Readdirnames(1024)
		for _, entry := range entries {
			if entry == name {
				return name, nil
			}
			if !strings.Contains(name, "~") && norm.NFC.String(fold(entry)) != want {
				continue
			}
			if at, err := os.Lstat(filepath.FromSlash(below(dir, entry))); err == nil && os.SameFile(info, at) {
				if found != "" {
					return "", errNoPath // two names, and neither was said
				}
				found = entry
			}
		}
		if errors.Is(err, io.EOF) || err == nil && len(entries) == 0 {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if found == "" {
		return "", errNoPath
	}
	return found, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// swapCase turns over the case of ASCII letters.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r ^ 0x20
		}
		return r
	}, s)
}
