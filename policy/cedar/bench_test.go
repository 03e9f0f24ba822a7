package cedar_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkDecide measures a whole decision on a small call: many rules on
// the same tool, and many rules of which one is on this tool.
func BenchmarkDecide(b *testing.B) {
	rule := `permit (principal, action == Action::"%s", resource) when { context.args.amount <= %d && context.args.currency == "EUR" };` + "\n"
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("same/%d", n), func(b *testing.B) {
			var source strings.Builder
			for i := range n {
				fmt.Fprintf(&source, rule, "bank.pay", 1000+i)
			}
			run(b, source.String())
		})
	}
	b.Run("indexed/1000", func(b *testing.B) {
		var source strings.Builder
		fmt.Fprintf(&source, rule, "bank.pay", 1000)
		for range 999 {
			source.WriteString(`permit (principal, action == Action::"mail.draft", resource) when { context.args.body == "x" };` + "\n")
		}
		run(b, source.String())
	})
}

func run(b *testing.B, source string) {
	e, in := load(b, source), call(b, "bank.pay", pay)
	b.Run("at-once", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := e.Answer(in); !ok {
				b.Fatal("no answer")
			}
		}
	})
	b.Run("by-cedar", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Decide(context.Background(), in); err != nil {
				b.Fatal(err)
			}
		}
	})
}
