package main

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	pointed = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headed  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinksOfEveryPageLeadSomewhere: the file is there, and the heading.
func TestLinksOfEveryPageLeadSomewhere(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	seen := 0
	for _, page := range pagesIn(t, root) {
		for _, m := range pointed.FindAllStringSubmatch(prose(t, root, page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			seen++
			to, heading, _ := strings.Cut(m[1], "#")
			if to = path.Join(path.Dir(page), to); strings.HasPrefix(m[1], "#") {
				to = page
			}
			if _, err := fs.Stat(root, to); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if heading != "" && !anchors(t, root, to)[heading] {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d links were found", seen)
	}
}

// pagesIn are the pages that people read.
func pagesIn(t *testing.T, root fs.FS) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	return pages
}

// prose is a page without its code.
func prose(t *testing.T, root fs.FS, page string) string {
	t.Helper()
	text, err := fs.ReadFile(root, page)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}

// anchors are the headings of a page, as links name them.
func anchors(t *testing.T, root fs.FS, page string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, m := range headed.FindAllStringSubmatch(prose(t, root, page), -1) {
		name := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}
