package web

import "html/template"

// PageNames are the pages that have a template.
func PageNames() []string { return pageNames }

// ParsePage parses the template of a page.
func ParsePage(name string) (*template.Template, error) { return parsePage(name) }

// TemplateNames are the files of templates.
func TemplateNames() ([]string, error) {
	list, err := templateFiles.ReadDir("templates")
	var names []string
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names, err
}
