package web_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// colours reads the custom properties of both schemes.
func colours(t *testing.T) (light, dark map[string]string) {
	t.Helper()
	css, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	day, rest, found := strings.Cut(string(css), "prefers-color-scheme: dark")
	if !found {
		t.Fatal("no dark scheme")
	}
	night, _, _ := strings.Cut(rest, "* {")
	light, dark = map[string]string{}, map[string]string{}
	for text, into := range map[string]map[string]string{day: light, night: dark} {
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(text, -1) {
			into[m[1]] = m[2]
		}
	}
	return light, dark
}

// luminance is relative luminance (WCAG 2.2).
func luminance(colour string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Texts need 4.5 to 1, edges of fields and the focus ring 3 to 1 (WCAG 2.2 AA).
func TestColoursOfBothSchemesHaveEnoughContrast(t *testing.T) {
	t.Parallel()
	light, dark := colours(t)
	if css, err := os.ReadFile("assets/style.css"); err != nil || !strings.Contains(string(css), "::placeholder { color: var(--soft); opacity: 1; }") {
		t.Errorf("browsers colour what a field suggests as they like, %v", err) // axe-core does not look at it
	}
	texts := [][2]string{{"ink", "bg"}, {"ink", "card"}, {"soft", "bg"}, {"soft", "card"}, {"soft", "diff"}, {"soft", "flat-bg"}, {"link", "bg"}, {"link", "card"}, {"link", "diff"},
		{"link", "flat-bg"}, {"ink", "field"}, {"soft", "field"}, {"ink", "code"}, {"ink", "flat-bg"}, {"good", "card"}, {"good", "good-bg"}, {"bad", "bad-bg"}, {"bad", "card"}, {"bad", "diff"}, {"wait", "wait-bg"},
		{"wait", "card"}, {"wait", "diff"}, {"alarm", "alarm-bg"}, {"flat", "flat-bg"}, {"mark", "mark-bg"}, {"mark", "card"}}
	edges := [][2]string{{"edge", "card"}, {"edge", "field"}, {"edge", "bg"}, {"focus", "card"}, {"focus", "bg"}}
	for name, scheme := range map[string]map[string]string{"light": light, "dark": dark} {
		for _, check := range []struct {
			pairs [][2]string
			least float64
		}{{texts, 4.5}, {edges, 3}} {
			for _, p := range check.pairs {
				if scheme[p[0]] == "" || scheme[p[1]] == "" {
					t.Fatalf("%s: no colour %v", name, p)
				}
				if got := contrast(scheme[p[0]], scheme[p[1]]); got < check.least {
					t.Errorf("%s: %s on %s is %.2f; want %.1f", name, p[0], p[1], got, check.least)
				}
			}
		}
		for _, button := range []string{"yes", "nay"} {
			if got := contrast(scheme[button], "#ffffff"); got < 4.5 {
				t.Errorf("%s: white on %s is %.2f", name, button, got)
			}
		}
	}
}
