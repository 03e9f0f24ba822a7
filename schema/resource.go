package schema

import (
	"net/url"
	"strings"

	"github.com/seed-de4804fb/verbatim/canon"
)

// document is one decoded schema text.
type document struct {
	root   canon.Value
	owners map[string]*resource // pointer of each schema -> resource it is in
	order  []string             // those pointers, in document order
}

// location is the place of a schema in a document.
type location struct {
	doc *document
	ptr string
}

func (l location) join(tokens ...string) location {
	for _, t := range tokens {
		l.ptr = canon.JoinPointer(l.ptr, t)
	}
	return l
}

// resource is a schema with a URI of its own (2020-12 core §4.3.5).
type resource struct {
	uri      string // absolute, without fragment
	base     *url.URL
	where    location
	dialect  *dialect
	anchors  map[string]location
	dynamic  map[string]location // the anchors that $dynamicAnchor made
	dynNodes map[string]*node
}

// Limits of one schema text.
const (
	maxSchemaBytes = 4 << 20
	maxSchemaDepth = 64
	maxDocuments   = 64
)

// rootURI is the base of a schema without $id. Nothing can be loaded from it.
const rootURI = "verbatim-schema:///root"

// parse decodes a schema text and indexes its resources.
func (c *compiler) parse(src []byte, uri string) (*document, error) {
	root, err := decodeSchema(src)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(uri)
	if err != nil {
		return nil, refuse(location{}, "$ref", "is not a URI")
	}
	doc := &document{root: root, owners: map[string]*resource{}}
	at := location{doc: doc}
	c.documents[uri] = doc
	d, err := c.dialectOf(root, at, dialect2020)
	if err != nil {
		return nil, err
	}
	res := c.newResource(base, at, d)
	return doc, c.index(root, at, res)
}

// document returns the document that the loader has under uri.
func (c *compiler) document(uri string) (*document, error) {
	if doc, ok := c.documents[uri]; ok {
		return doc, nil
	}
	if c.load == nil || len(c.documents) >= maxDocuments {
		return nil, refuse(location{}, "$ref", "leaves the document")
	}
	src, ok := c.load(uri)
	if !ok {
		return nil, refuse(location{}, "$ref", "leaves the document")
	}
	return c.parse(src, uri)
}

func (c *compiler) newResource(base *url.URL, at location, d *dialect) *resource {
	bare := *base
	bare.Fragment, bare.RawFragment = "", ""
	res := &resource{
		uri: bare.String(), base: &bare, where: at, dialect: d,
		anchors: map[string]location{}, dynamic: map[string]location{}, dynNodes: map[string]*node{},
	}
	if _, taken := c.resources[res.uri]; !taken {
		c.resources[res.uri] = res
	}
	c.all = append(c.all, res)
	return res
}

// index finds the schemas, resources and anchors below v.
func (c *compiler) index(v canon.Value, at location, res *resource) error {
	if _, done := at.doc.owners[at.ptr]; done {
		return nil
	}
	if at.ptr != "" && v.Kind() != canon.Object && v.Kind() != canon.Bool {
		return nil // refused where the keyword above is built
	}
	res, err := c.enterResource(v, at, res)
	if err != nil {
		return err
	}
	at.doc.owners[at.ptr] = res
	at.doc.order = append(at.doc.order, at.ptr)
	if err := c.indexAnchors(v, at, res); err != nil {
		return err
	}
	for i := 0; i < v.Len() && v.Kind() == canon.Object; i++ {
		name, sub := v.Member(i)
		if app, ok := applicators[name]; ok && app.drafts&res.dialect.draft != 0 {
			if err := c.indexBelow(sub, at.join(name), res, app.shape); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *compiler) indexBelow(v canon.Value, at location, res *resource, s shape) error {
	switch {
	case s&schemaList != 0 && v.Kind() == canon.Array:
		for i := range v.Len() {
			if err := c.index(v.At(i), location{at.doc, canon.JoinIndex(at.ptr, i)}, res); err != nil {
				return err
			}
		}
	case s&schemaTable != 0 && v.Kind() == canon.Object:
		for i := range v.Len() {
			name, sub := v.Member(i)
			if sub.Kind() == canon.Array {
				continue // dependencies: a list of names
			}
			if err := c.index(sub, at.join(name), res); err != nil {
				return err
			}
		}
	case s&oneSchema != 0:
		return c.index(v, at, res)
	}
	return nil
}

// enterResource opens a new resource where $id names one.
func (c *compiler) enterResource(v canon.Value, at location, res *resource) (*resource, error) {
	id, found := v.Get("$id")
	if !found {
		return res, c.sameDialect(v, at, res)
	}
	_, hasRef := v.Get("$ref")
	d, err := c.dialectOf(v, at, res.dialect)
	if err != nil {
		return nil, err
	}
	if d.draft == draft7 && hasRef {
		return res, nil // draft-07 §8.3: siblings of $ref are ignored
	}
	if id.Kind() != canon.String {
		return nil, refuse(at, "$id", "must be a string")
	}
	u, err := url.Parse(id.Text())
	if err != nil {
		return nil, refuse(at, "$id", "must be a URI reference")
	}
	if u.Fragment != "" {
		return c.fragmentID(id.Text(), u, at, res, d)
	}
	if id.Text() == "" || id.Text() == "#" {
		return res, nil
	}
	next := c.newResource(res.base.ResolveReference(u), at, d)
	if at.ptr == "" && at.doc.root.Len() > 0 {
		c.documents[next.uri] = at.doc
	}
	return next, nil
}

// sameDialect refuses a $schema that would change the dialect within one
// resource (2020-12 core §8.1.1).
func (c *compiler) sameDialect(v canon.Value, at location, res *resource) error {
	d, err := c.dialectOf(v, at, res.dialect)
	if err == nil && d != res.dialect && at != res.where {
		return refuse(at, "$schema", "changes the dialect inside a resource")
	}
	return err
}

// fragmentID handles "$id": "#name", the anchor of draft-07 §8.2.3.
func (c *compiler) fragmentID(id string, u *url.URL, at location, res *resource, d *dialect) (*resource, error) {
	if d.draft != draft7 {
		return nil, refuse(at, "$id", "must not have a fragment")
	}
	if !strings.HasPrefix(id, "#") {
		return nil, refuse(at, "$id", "must not have both a path and a fragment")
	}
	return res, c.addAnchor(res.anchors, u.Fragment, at, "$id")
}

func (c *compiler) indexAnchors(v canon.Value, at location, res *resource) error {
	if res.dialect.draft == draft7 {
		return nil
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		name, found := v.Get(keyword)
		if !found {
			continue
		}
		if name.Kind() != canon.String || name.Text() == "" {
			return refuse(at, keyword, "must be a non-empty string")
		}
		if err := c.addAnchor(res.anchors, name.Text(), at, keyword); err != nil {
			return err
		}
		if keyword == "$dynamicAnchor" {
			res.dynamic[name.Text()] = at
		}
	}
	return nil
}

func (c *compiler) addAnchor(anchors map[string]location, name string, at location, keyword string) error {
	if old, taken := anchors[name]; taken && old != at {
		return refuse(at, keyword, "is not unique")
	}
	anchors[name] = at
	return nil
}

// resolve finds the schema that a reference in res names.
func (c *compiler) resolve(ref string, at location, keyword string, res *resource) (location, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return location{}, refuse(at, keyword, "must be a URI reference")
	}
	target := res
	if !strings.HasPrefix(ref, "#") && ref != "" {
		abs := *res.base.ResolveReference(u)
		abs.Fragment, abs.RawFragment = "", ""
		if target, err = c.resource(abs.String()); err != nil {
			return location{}, refuse(at, keyword, "leaves the document: only references inside it are followed")
		}
	}
	if u.Fragment != "" && !strings.HasPrefix(u.Fragment, "/") {
		found, ok := target.anchors[u.Fragment]
		if !ok {
			return location{}, refuse(at, keyword, "names an anchor that does not exist")
		}
		return found, nil
	}
	return c.pointer(target, u.Fragment, at, keyword)
}

func (c *compiler) resource(uri string) (*resource, error) {
	if res, ok := c.resources[uri]; ok {
		return res, nil
	}
	doc, err := c.document(uri)
	if err != nil {
		return nil, err
	}
	return doc.owners[""], nil
}

// pointer follows a JSON Pointer fragment from the root of a resource.
func (c *compiler) pointer(res *resource, fragment string, at location, keyword string) (location, error) {
	tokens, ok := canon.SplitPointer(fragment)
	if !ok {
		return location{}, refuse(at, keyword, "has a malformed JSON Pointer")
	}
	target := res.where.join(tokens...)
	v, found := target.doc.root.Lookup(target.ptr)
	if !found {
		return location{}, refuse(at, keyword, "names a place that does not exist")
	}
	if v.Kind() != canon.Object && v.Kind() != canon.Bool {
		return location{}, refuse(at, keyword, "names a place that is no schema")
	}
	return target, c.index(v, target, target.doc.owner(target.ptr))
}

// owner returns the resource of the nearest schema at or above ptr.
func (d *document) owner(ptr string) *resource {
	for {
		if res, ok := d.owners[ptr]; ok {
			return res
		}
		cut := strings.LastIndexByte(ptr, '/')
		if cut < 0 {
			return d.owners[""]
		}
		ptr = ptr[:cut]
	}
}
