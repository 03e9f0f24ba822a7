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
// that is not there in the other case. Only else is the folder read.
func diskName(ctx context.Context, dir, name string, info fs.FileInfo) (string, error) {
	if isASCII(name) && !strings.Contains(name, "~") {
		other := swapCase(name)
		if other == name {
			return name, nil
		}
		if _, err := os.Lstat(filepath.FromSlash(below(dir, other))); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
	}
	return readName(ctx, dir, name, info)
}

// readName looks a name up in its folder: as it is, else the one entry that
// differs in case or normal form only, or is the file of a short name. That
// two spellings are one file cannot be asked: some file systems number them
// apart.
func readName(ctx context.Context, dir, name string, info fs.FileInfo) (string, error) {
	folder, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return "", err
	}
	defer folder.Close()
	var found []string
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		entries, err := folder.Readdirnames(1024)
		for _, entry := range entries {
			if entry == name {
				return name, nil
			}
			if caseKey(entry) == caseKey(name) || isShortName(dir, entry, name, info) {
				found = append(found, entry)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if len(found) != 1 {
		return "", errNoPath // none, or several and none of them was said
	}
	return found[0], nil
}

// caseKey is the same for names that differ in case or normal form only.
func caseKey(name string) string {
	return norm.NFC.String(strings.Map(smallestFold, norm.NFC.String(name)))
}

// isShortName reports whether a name such as PROGRA~1 is that of an entry.
func isShortName(dir, entry, name string, info fs.FileInfo) bool {
	if !strings.Contains(name, "~") {
		return false
	}
	at, err := os.Lstat(filepath.FromSlash(below(dir, entry)))
	return err == nil && os.SameFile(info, at)
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
