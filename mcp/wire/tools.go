package wire

import (
	"github.com/seed-de4804fb/verbatim/canon"
)

// Form says over which bytes a tool definition was hashed.
type Form string

// The forms; see the package comment.
const (
	FormCanonical Form = "rfc8785"
	FormRaw       Form = "raw"
)

// Tool is one tool definition as a server sent it. The slices share the bytes
// of the result and must not be written to.
type Tool struct {
	Name        string
	Raw         []byte // the tool object, exact bytes
	InputSchema []byte // raw, always an object
	// OutputSchema is raw, nil if absent. Clients hold structured content
	// against it, also that of an error.
	OutputSchema []byte
	Annotations  []byte // raw, nil if absent; hints of the server, never a basis of decisions
	Digest       canon.Digest
	Form         Form

	at     span // the tool object in the bytes it was read from
	nameAt span // its quoted name there
}

// Renamed returns the tool object with another name and all other bytes
// equal.
func (t Tool) Renamed(name string) []byte {
	at := span{t.nameAt.start - t.at.start, t.nameAt.end - t.at.start}
	return splices(t.Raw, []splice{{at, appendText(nil, name)}})
}

// ToolList is one page of tools.
type ToolList struct {
	Tools      []Tool
	NextCursor string // "" on the last page
}

// ToolDefinitions reads the raw result of tools/list. It fails with an
// [*Error] if tools is not a list of tool objects, if two tools have one
// name, or if a tool object or the result has two readings: a member that is
// there twice, or a known name in another letter case.
func ToolDefinitions(result []byte) (ToolList, error) {
	where, err := scanDocument(result, DefaultMaxDepth)
	if err != nil {
		return ToolList{}, err
	}
	list, err := toolList(result, where)
	if err != nil {
		return ToolList{}, err
	}
	return list, nil
}

func toolList(src []byte, result span) (ToolList, *Error) {
	if src[result.start] != '{' {
		return ToolList{}, refuse(CodeInvalidRequest, RuleTools, "", result.start)
	}
	at, found, err := child(src, result, "tools")
	if err != nil || !found || src[at.start] != '[' {
		return ToolList{}, toolFault(err, "/tools", result)
	}
	list := ToolList{}
	seen := make(map[string]bool)
	for i, element := range elementsOf(src, at) {
		tool, err := readTool(src, element, canon.JoinIndex("/tools", i))
		if err != nil {
			return ToolList{}, err
		}
		if seen[tool.Name] {
			return ToolList{}, refuse(CodeInvalidRequest, RuleDuplicate, canon.JoinIndex("/tools", i)+"/name", element.start)
		}
		seen[tool.Name] = true
		list.Tools = append(list.Tools, tool)
	}
	list.NextCursor, err = cursor(src, result)
	return list, err
}

func toolFault(err *Error, pointer string, where span) *Error {
	if err == nil {
		err = refuse(CodeInvalidRequest, RuleTools, "", where.start)
	}
	err.Pointer = pointer
	return err
}

// cursor reads nextCursor; null counts as absent, as some servers send it.
func cursor(src []byte, result span) (string, *Error) {
	at, found, err := child(src, result, "nextCursor")
	if err != nil {
		return "", toolFault(err, "/nextCursor", result)
	}
	if !found || string(at.of(src)) == "null" {
		return "", nil
	}
	text, ok := textAt(src, at)
	if !ok {
		return "", toolFault(nil, "/nextCursor", at)
	}
	return text, nil
}

func readTool(src []byte, where span, pointer string) (Tool, *Error) {
	members := membersOf(src, where)
	if err := toolNames.strict(members, pointer); err != nil {
		return Tool{}, err
	}
	tool := Tool{Raw: where.of(src), at: where}
	named := false
	for _, x := range members {
		switch x.name {
		case "name":
			tool.nameAt = x.value
			tool.Name, named = textAt(src, x.value)
		case "inputSchema":
			tool.InputSchema = x.value.of(src)
		case "outputSchema":
			tool.OutputSchema = x.value.of(src)
		case "annotations":
			tool.Annotations = x.value.of(src)
		}
	}
	if !named || tool.Name == "" || len(tool.InputSchema) == 0 || tool.InputSchema[0] != '{' {
		return Tool{}, toolFault(nil, pointer, where)
	}
	tool.Digest, tool.Form = definitionDigest(tool.Raw)
	return tool, nil
}

// definitionDigest hashes a tool object; see the package comment. Numbers
// must be exact: two definitions that differ in the last digit of a limit
// must not have one digest.
func definitionDigest(raw []byte) (canon.Digest, Form) {
	v, err := canon.Decode(raw, canon.Options{MaxBytes: DefaultMaxFrame, Exact: true})
	if err != nil {
		return canon.Sum(raw), FormRaw
	}
	return canon.Sum(v.Canonical()), FormCanonical
}

// FilterTools returns m, a response to tools/list, with only the tools that
// show keeps, under the names that it returns; all other bytes are equal. It
// fails as [ToolDefinitions] does, and if two tools would be shown under one
// name.
func (m *Message) FilterTools(show func(Tool) (name string, keep bool)) (*Message, error) {
	if !m.result.found() {
		return nil, refuse(CodeInternal, RuleTools, "/result", -1)
	}
	list, err := toolList(m.frame, m.result)
	if err != nil {
		return nil, err
	}
	items := make([]span, len(list.Tools))
	dropped := make([]bool, len(list.Tools))
	var renames []splice
	for i, tool := range list.Tools {
		name, keep := show(tool)
		items[i], dropped[i] = tool.at, !keep
		if keep && name != tool.Name {
			renames = append(renames, splice{tool.nameAt, appendText(nil, name)})
		}
	}
	cuts := cutItems(items, func(i int) bool { return dropped[i] })
	if len(cuts)+len(renames) == 0 {
		return m, nil
	}
	next, fault := m.spliced(inOrder(cuts, renames))
	if fault != nil {
		return nil, fault
	}
	if _, err := toolList(next.frame, next.result); err != nil {
		return nil, err
	}
	return next, nil
}

// inOrder merges two ordered lists of splices that do not overlap.
func inOrder(a, b []splice) []splice {
	out := make([]splice, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].at.start < b[0].at.start {
			out, a = append(out, a[0]), a[1:]
			continue
		}
		out, b = append(out, b[0]), b[1:]
	}
	return append(append(out, a...), b...)
}
