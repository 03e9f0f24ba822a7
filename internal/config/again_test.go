package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-de4804fb/verbatim/internal/config"
)

// Every field of the configuration is one that a running daemon takes over, or
// one whose change is named: a new field must be put on one of the sides.
func TestEachFieldIsTakenOverOrNeedsARestart(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{"File": true, "Optional": true, "Servers": true, "Catalog": true, "Policy": true,
		"Endpoint.Servers": true, "Endpoint.Tokens": true, "Endpoint.OAuth": true}
	called := map[string]string{"Postgres": "store", "OTLP": "telemetry"} // where the file's word is not the field's
	check := func(prefix string, of reflect.Type, change func(c *config.Config) reflect.Value) {
		for i := range of.NumField() {
			name := prefix + of.Field(i).Name
			var c, next config.Config
			c.Endpoint, next.Endpoint = &config.Endpoint{}, &config.Endpoint{}
			field := change(&next).Field(i)
			if name == "Endpoint" {
				field.SetZero()
			} else {
				fill(t, field)
			}
			got := c.NeedsRestart(next)
			if taken[name] != (len(got) == 0) {
				t.Errorf("%s: a change needs a restart for %q", name, got)
			}
			if word := called[name]; len(got) > 1 || len(got) == 1 && !strings.EqualFold(got[0], name) && got[0] != word {
				t.Errorf("%s: named %q", name, got)
			}
		}
	}
	check("", reflect.TypeFor[config.Config](), func(c *config.Config) reflect.Value { return reflect.ValueOf(c).Elem() })
	check("Endpoint.", reflect.TypeFor[config.Endpoint](), func(c *config.Config) reflect.Value { return reflect.ValueOf(c.Endpoint).Elem() })
}

// fill gives a field another value than its zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(time.Second))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		fill(t, v.Field(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		t.Fatalf("a field of kind %s", v.Kind())
	}
}

func TestWatchedFilesAreThoseWhoseContentIsKept(t *testing.T) {
	t.Parallel()
	ca := "/ca.pem"
	c := config.Config{File: "/v.yaml", Servers: map[string]config.Server{"a": {CA: &ca}},
		Endpoint: &config.Endpoint{Tokens: []config.Token{{Secret: config.Secret{File: "/token"}}, {SHA256: "x"}, {Secret: config.Secret{Env: "Y"}}}}}
	if diff := cmp.Diff([]string{"/v.yaml", "/ca.pem", "/token"}, c.Watched()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
