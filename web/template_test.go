package web_test

import (
	"slices"
	"testing"

	"github.com/seed-de4804fb/verbatim/web"
)

// Templates are parsed when their page is first shown: a mistake in one must
// not wait for somebody who opens it.
func TestTemplateOfEachPageIsWhole(t *testing.T) {
	t.Parallel()
	files, err := web.TemplateNames()
	if err != nil {
		t.Fatal(err)
	}
	pages := web.PageNames()
	for _, file := range files {
		if file != "layout.html" && file != "parts.html" && !slices.Contains(pages, file[:len(file)-len(".html")]) {
			t.Errorf("%s is the template of no page", file)
		}
	}
	for _, name := range pages {
		if page, err := web.ParsePage(name); err != nil {
			t.Error(err)
		} else if page.Lookup(name+".html") == nil {
			t.Errorf("the page %s has no template of its own", name)
		}
	}
}
