package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/schema"
	"github.com/seed-de4804fb/verbatim/snapshot"
)

// leaderboardTypes are the types of the Berkeley Function Calling Leaderboard,
// those of Python, Java and JavaScript, as JSON Schema calls them; "" is any.
var leaderboardTypes = map[string]string{
	"dict": "object", "HashMap": "object", "object": "object",
	"array": "array", "Array": "array", "ArrayList": "array", "tuple": "array",
	"string": "string", "String": "string", "char": "string",
	"integer": "integer", "long": "integer", "number": "number", "float": "number", "double": "number",
	"boolean": "boolean", "Boolean": "boolean", "any": "", "": "",
}

// leaderboardFunction is one function that a question offers.
type leaderboardFunction struct {
	Name       string
	Parameters map[string]any
}

// translated is the schema with the types' names changed, and nothing else.
// What it says that is no schema ("optional": true) is left out.
func translated(t *testing.T, s map[string]any) map[string]any {
	t.Helper()
	out := maps.Clone(s)
	delete(out, "optional")
	if name, given := s["type"].(string); given {
		known, ok := leaderboardTypes[name]
		if !ok {
			t.Fatalf("unknown type %q", name)
		}
		if out["type"] = known; known == "" {
			delete(out, "type")
		}
	}
	if props, ok := s["properties"].(map[string]any); ok {
		all := map[string]any{}
		for name, p := range props {
			all[name] = translated(t, p.(map[string]any))
		}
		out["properties"] = all
	}
	if items, ok := s["items"].(map[string]any); ok {
		out["items"] = translated(t, items)
	}
	return out
}

// readLines decodes a file of JSON lines.
func readLines[T any](t *testing.T, file string) []T {
	t.Helper()
	var out []T
	for line := range bytes.Lines(readSuite(t, filepath.Join("bfcl", file))) {
		var x T
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, x)
	}
	return out
}

// question is one line with its functions.
type question struct {
	ID       string
	Function []leaderboardFunction
}

// answer is what its authors accept: for each member its alternatives.
type answer struct {
	ID    string
	Truth []map[string]map[string]any `json:"ground_truth"`
}

// absent stands for a member that an accepted answer may leave out.
type absent struct{}

// alternatives are the values that an accepted answer may have at a place.
// The leaderboard writes "" for a member that may be absent, and lists of
// alternatives again for each member of an object.
func alternatives(list any) []any {
	var out []any
	for _, x := range list.([]any) {
		if x == "" {
			out = append(out, absent{})
			continue
		}
		out = append(out, expanded(x)...)
	}
	return out
}

// expanded takes the alternatives inside of one: the first of each member, and
// for each other one an object that has it.
func expanded(x any) []any {
	switch x := x.(type) {
	case map[string]any:
		return objects(x)
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = expanded(x[i])[0]
		}
		return []any{list}
	default:
		return []any{x}
	}
}

func objects(members map[string]any) []any {
	first, out := map[string]any{}, []any{}
	for name, list := range members {
		if _, is := list.([]any); !is {
			return []any{members} // a plain object
		}
		put(first, name, alternatives(list)[0])
	}
	out = append(out, first)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		for _, other := range alternatives(members[name])[1:] {
			one := maps.Clone(first)
			put(one, name, other)
			out = append(out, one)
		}
	}
	return out
}

func put(m map[string]any, name string, x any) {
	delete(m, name)
	if _, is := x.(absent); !is {
		m[name] = x
	}
}

// brokenDefaults are the functions that publish a default of another type
// than their own, such as "False" for a boolean. The contract calls that a
// mistake of the catalog. Without their defaults they are functions as any.
var brokenDefaults = []string{"biology.get_cell_info", "calc_distance", "cellbio.get_proteins", "court_case.search",
	"find_restaurants", "linear_regression_fit", "movie_details.brief", "museum_info", "primeFactors"}

// brokenAnswers are the answers that do not obey the schema that is published
// with them, with what they break.
var brokenAnswers = map[string]string{
	"parallel_152 math.power":                                "type",
	"parallel_88 calculate_final_speed":                      "required",
	"parallel_multiple_119 league_stats.get_top_scorer":      "required",
	"parallel_multiple_12 calculate_voltage_difference":      "unknown_member",
	"parallel_multiple_143 find_flute":                       "enum",
	"parallel_multiple_173 ecology_data.precipitation_stats": "enum",
	"parallel_multiple_194 building.get_dimensions":          "enum",
	"parallel_multiple_21 linear_regression_fit":             "type",
	"parallel_multiple_26 bank.calculate_balance":            "unknown_member",
	"parallel_multiple_63 weather.get_by_city_date":          "format",
	"parallel_multiple_63 weather.get_by_coordinates_date":   "format",
	"parallel_multiple_87 kinematics.distance":               "required",
	"parallel_multiple_94 sort_list":                         "type",
	"simple_java_26 ProxyConnection.prepareCall":             "type",
	"simple_java_35 RedissonConnection.bitOp":                "type",
	"simple_java_38 NestedValueFetcher.createSourceMapStub":  "type",
	"simple_java_45 Basic.checkSizes":                        "type",
	"simple_java_58 XContentBuilder.map":                     "type",
	"simple_java_69 DurationImpl.alignSigns":                 "type",
	"simple_java_72 ToTextStream.characters":                 "type",
	"simple_java_82 clear001a.runIt":                         "type",
	"simple_java_87 suspendpolicy017.settingVMDeathRequest":  "type",
	"simple_java_88 filter_s002.setting22MethodEntryRequest": "type",
	"simple_javascript_11 prioritizeAndSort":                 "type",
	"simple_javascript_15 ChartSeriesGenerator":              "type",
	"simple_javascript_19 configureShaderMaterial":           "type",
	"simple_javascript_32 pollQueue":                         "type",
	"simple_javascript_37 addInitializedPropertyStatements":  "type",
	"simple_javascript_39 maybeAddJsSyntheticRestParameter":  "type",
	"simple_javascript_5 manageReactState":                   "type",
	"simple_javascript_9 validateApiResponse":                "type",
	"simple_python_149 get_stock_price":                      "type",
	"simple_python_17 get_prime_factors":                     "required",
	"simple_python_200 calculate_emissions":                  "required",
	"simple_python_307 game_result.get_winner":               "type",
	"simple_python_358 recipe_search":                        "enum",
}

// TestLeaderboardFunctionsAcceptTheirAnswers compiles every function, and
// applies it to every answer that its authors accept.
func TestLeaderboardFunctionsAcceptTheirAnswers(t *testing.T) {
	t.Parallel()
	for file, atLeast := range map[string]int{"simple_python": 800, "simple_java": 90, "simple_javascript": 45, "parallel": 800, "parallel_multiple": 1000} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			accepted, broken := 0, map[string]string{}
			leaderboardCalls(t, file, func(id, name string, tool *schema.Schema, args any) {
				_, _, err := parsed(t, name, tool, marshalled(t, args))
				var refused canon.Violations
				switch {
				case err == nil:
					accepted++
				case errors.As(err, &refused):
					broken[id+" "+name] = refused[0].Rule
				default:
					t.Errorf("%s: %s: %v", id, name, err)
				}
			})
			want := map[string]string{}
			for call, rule := range brokenAnswers {
				if strings.HasPrefix(call, file+"_") && !strings.HasPrefix(strings.TrimPrefix(call, file+"_"), "multiple") {
					want[call] = rule
				}
			}
			if diff := cmp.Diff(want, broken); diff != "" || accepted < atLeast {
				t.Errorf("%d accepted; refused: %s", accepted, diff)
			}
			t.Logf("%d accepted", accepted)
		})
	}
}

// leaderboardCalls calls f for every accepted answer of a file.
func leaderboardCalls(t *testing.T, file string, f func(id, name string, tool *schema.Schema, args any)) {
	t.Helper()
	answers := map[string]answer{}
	for _, a := range readLines[answer](t, file+".answers.jsonl") {
		answers[a.ID] = a
	}
	for _, q := range readLines[question](t, file+".jsonl") {
		tools := compiledFunctions(t, q)
		for _, call := range answers[q.ID].Truth {
			for name, members := range call {
				for _, args := range objects(members) {
					f(q.ID, name, tools[name], args)
				}
			}
		}
	}
}

func compiledFunctions(t *testing.T, q question) map[string]*schema.Schema {
	t.Helper()
	tools := map[string]*schema.Schema{}
	for _, f := range q.Function {
		src := translated(t, f.Parameters)
		s, err := schema.Compile(marshalled(t, src), schema.Options{})
		var refused *schema.CompileError
		if errors.As(err, &refused) && refused.Keyword == "default" && slices.Contains(brokenDefaults, f.Name) {
			for _, p := range src["properties"].(map[string]any) {
				delete(p.(map[string]any), "default")
			}
			s, err = schema.Compile(marshalled(t, src), schema.Options{})
		}
		if err != nil {
			t.Errorf("%s: %s: %v", q.ID, f.Name, err)
		}
		tools[f.Name] = s
	}
	return tools
}

func marshalled(t *testing.T, x any) []byte {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// parsed decodes and applies. It returns the proposal hash and what the
// effective arguments are to another reader and writer of JSON.
func parsed(t *testing.T, name string, tool *schema.Schema, text []byte) (hash snapshot.ProposalHash, form string, err error) {
	t.Helper()
	v, err := canon.Decode(text, canon.Options{Exact: true, FoldTwins: true})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if v, _, err = tool.Apply(v, nil); err != nil {
		return hash, "", err
	}
	frozen, err := snapshot.Freeze(v)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var other any
	if err := json.Unmarshal(v.Canonical(), &other); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return snapshot.Propose("agent", name, frozen).Hash, name + string(marshalled(t, other)), nil
}

// respelled writes a value in another way: members backwards, white space,
// whole numbers with a fraction or an exponent, texts in escapes.
func respelled(x any) string {
	switch x := x.(type) {
	case map[string]any:
		var members []string
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(x))) {
			members = append(members, respelled(name)+" :\t"+respelled(x[name]))
		}
		return "{ " + strings.Join(members, " ,\n") + " }"
	case []any:
		elems := make([]string, len(x))
		for i := range x {
			elems[i] = respelled(x[i])
		}
		return "[ " + strings.Join(elems, " , ") + " ]"
	case json.Number:
		switch text := x.String(); {
		case strings.Contains(text, "e"):
			return strings.ToUpper(text)
		case strings.Contains(text, "."):
			return text + "0e0"
		case len(text)%2 == 0:
			return text + "0e-1"
		default:
			return text + ".00"
		}
	case string:
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune(x)) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return `"` + b.String() + `"`
	case bool:
		return strconv.FormatBool(x)
	default:
		return "null"
	}
}

// TestEqualAnswersHaveEqualHashes spells each accepted answer in another way,
// and compares each with the others that are accepted for the same call: equal
// effective arguments have one hash, different ones two.
func TestEqualAnswersHaveEqualHashes(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"simple_python", "simple_java", "simple_javascript", "parallel", "parallel_multiple"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			hashes, forms, compared := map[snapshot.ProposalHash]string{}, map[string]snapshot.ProposalHash{}, 0
			leaderboardCalls(t, file, func(id, name string, tool *schema.Schema, args any) {
				text := marshalled(t, args)
				hash, form, err := parsed(t, name, tool, text)
				if err != nil {
					return
				}
				compared++
				again, _, err := parsed(t, name, tool, []byte(respelled(args)))
				if err != nil || again != hash {
					t.Errorf("%s: %s has another hash than %s, or %v", id, respelled(args), text, err)
				}
				if other, seen := hashes[hash]; seen && other != form {
					t.Errorf("%s: one hash for %s and %s", id, other, form)
				}
				if other, seen := forms[form]; seen && other != hash {
					t.Errorf("%s: two hashes for %s", id, form)
				}
				hashes[hash], forms[form] = form, hash
			})
			t.Logf("%d answers, %d different", compared, len(hashes))
		})
	}
}
