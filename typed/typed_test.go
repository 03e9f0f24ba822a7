package typed_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/typed"
)

type base struct {
	ID string `json:"id" jsonschema:"the order"`
}

type line struct {
	SKU   string  `json:"sku"`
	Count int32   `json:"count"`
	Price float64 `json:"price,omitempty"`
}

type order struct {
	base
	Lines  []line            `json:"lines"`
	Labels map[string]string `json:"labels,omitempty"`
	Note   *string           `json:"note"`
	Pair   [2]uint16         `json:"pair,omitzero"`
	Extra  canon.Value       `json:"extra,omitempty"`
	Hidden string            `json:"-"`
	secret string
}

func TestSchemaOfAStruct(t *testing.T) {
	t.Parallel()
	got, err := typed.Schema(reflect.TypeFor[order]())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"additionalProperties":false,"properties":{"extra":{},"id":{"description":"the order","type":"string"},` +
		`"labels":{"additionalProperties":{"type":"string"},"type":"object"},` +
		`"lines":{"items":{"additionalProperties":false,"properties":{"count":{"maximum":2147483647,"minimum":-2147483648,"type":"integer"},` +
		`"price":{"type":"number"},"sku":{"type":"string"}},"required":["sku","count"],"type":"object"},"type":"array"},` +
		`"note":{"type":"string"},"pair":{"items":{"maximum":65535,"minimum":0,"type":"integer"},"maxItems":2,"minItems":2,"type":"array"}},` +
		`"required":["id","lines"],"type":"object"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestIntegersAreBoundToWhatJSONKeeps(t *testing.T) {
	t.Parallel()
	for _, typ := range []reflect.Type{reflect.TypeFor[int64](), reflect.TypeFor[uint64](), reflect.TypeFor[int]()} {
		got, err := typed.Schema(typ)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), `"maximum":9007199254740991`) {
			t.Errorf("%v: %s has no bound of 2^53-1", typ, got)
		}
	}
}

type recursive struct{ Next *recursive }
type ownForm struct{ At time.Time }
type twins struct {
	A string `json:"name"`
	B string `json:"Name"`
}
type embedsPointer struct{ *base }
type quoted struct {
	N int `json:"n,string"`
}

func TestTypesWithoutAnExactFormAreRefused(t *testing.T) {
	t.Parallel()
	for name, typ := range map[string]reflect.Type{
		"recursive":           reflect.TypeFor[recursive](),
		"time":                reflect.TypeFor[ownForm](),
		"names equal in case": reflect.TypeFor[twins](),
		"embedded pointer":    reflect.TypeFor[embedsPointer](),
		"string option":       reflect.TypeFor[quoted](),
		"float32":             reflect.TypeFor[float32](),
		"bytes":               reflect.TypeFor[[]byte](),
		"interface":           reflect.TypeFor[any](),
		"raw message":         reflect.TypeFor[json.RawMessage](),
		"json number key":     reflect.TypeFor[map[int]string](),
		"channel":             reflect.TypeFor[chan int](),
		"function":            reflect.TypeFor[func()](),
		"complex":             reflect.TypeFor[complex128](),
		"pointer to pointer":  reflect.TypeFor[**int](),
		"digest":              reflect.TypeFor[canon.Digest](),
		"no type":             nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := typed.Schema(typ)
			var te *typed.TypeError
			if !errors.As(err, &te) || te.Reason == "" {
				t.Fatalf("error = %v, want a TypeError with a reason", err)
			}
		})
	}
}

func decodeOrder(t *testing.T, text string) (order, error) {
	t.Helper()
	v, err := canon.Decode([]byte(text), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var o order
	return o, typed.Decode(v, &o)
}

func TestDecodeFillsEveryField(t *testing.T) {
	t.Parallel()
	v, err := canon.Decode([]byte(`{"id":"1","lines":[{"sku":"a","count":2,"price":0.1}],"labels":{"k":"v"},"note":"n","pair":[1,2],"extra":[null]}`), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got order
	if err := typed.Decode(v, &got); err != nil {
		t.Fatal(err)
	}
	note := "n"
	want := order{
		base: base{ID: "1"}, Lines: []line{{"a", 2, 0.1}}, Labels: map[string]string{"k": "v"}, Note: &note,
		Pair: [2]uint16{1, 2}, Extra: got.Extra, // trees are equal by what they hold
	}
	if !canon.Equal(got.Extra, canon.ArrayValue(canon.NullValue())) || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.secret != "" || got.Hidden != "" {
		t.Error("a field that has no member was filled")
	}
}

func TestDecodeRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, pointer, rule string }{
		"other case":         {`{"ID":"1","lines":[]}`, "/<unknown>", "unknown_member"},
		"unknown member":     {`{"id":"1","lines":[],"x":1}`, "/<unknown>", "unknown_member"},
		"hidden field":       {`{"id":"1","lines":[],"Hidden":"x"}`, "/<unknown>", "unknown_member"},
		"unexported field":   {`{"id":"1","lines":[],"secret":"x"}`, "/<unknown>", "unknown_member"},
		"missing":            {`{"lines":[]}`, "/id", "required"},
		"null for a string":  {`{"id":null,"lines":[]}`, "/id", "type"},
		"null for a pointer": {`{"id":"1","lines":[],"note":null}`, "/note", "type"},
		"fraction":           {`{"id":"1","lines":[{"sku":"a","count":10.5}]}`, "/lines/0/count", "type"},
		"too large":          {`{"id":"1","lines":[{"sku":"a","count":2147483648}]}`, "/lines/0/count", "maximum"},
		"below zero":         {`{"id":"1","lines":[],"pair":[-1,0]}`, "/pair/0", "minimum"},
		"short array":        {`{"id":"1","lines":[],"pair":[1]}`, "/pair", "minItems"},
		"long array":         {`{"id":"1","lines":[],"pair":[1,2,3]}`, "/pair", "maxItems"},
		"number as string":   {`{"id":1,"lines":[]}`, "/id", "type"},
		"map value":          {`{"id":"1","lines":[],"labels":{"secret":1}}`, "/labels/<unknown>", "type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decodeOrder(t, c.text)
			var vs canon.Violations
			if !errors.As(err, &vs) {
				t.Fatalf("error = %v, want violations", err)
			}
			for _, v := range vs {
				if v.Pointer == c.pointer && v.Rule == c.rule {
					return
				}
			}
			t.Errorf("violations = %v, want %s at %s", vs, c.rule, c.pointer)
		})
	}
}

func TestFailedDecodeLeavesTheTargetAlone(t *testing.T) {
	t.Parallel()
	v, err := canon.Decode([]byte(`{"id":"new","lines":[{"sku":"a"}]}`), canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := order{base: base{ID: "old"}}
	if err := typed.Decode(v, &got); err == nil || got.ID != "old" {
		t.Errorf("error = %v, id = %q; want a refusal and the old id", err, got.ID)
	}
}

func TestTargetMustBeAPointer(t *testing.T) {
	t.Parallel()
	for _, dst := range []any{nil, order{}, (*order)(nil)} {
		if err := typed.Decode(canon.ObjectValue(), dst); !errors.Is(err, typed.ErrTarget) {
			t.Errorf("Decode into %T: error = %v, want ErrTarget", dst, err)
		}
	}
}
