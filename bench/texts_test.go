package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// smallCall is a call as models write them: 213 bytes, spaces, members in
// the order of thought.
const smallCall = `{"vendor": "VENDOR-001", "amount": {"value": 8400.5, "currency": "USD"}, "memo": "Invoice 4711, second part", ` +
	`"urgent": false, "approver": null, "labels": ["ap", "q3"], "iban": "DE02 1203 0000 0000", "attempt": 3}`

var words = []string{"amount_minor", "currency", "creditor_account", "memo", "reference", "created_at", "target", "tenant",
	"labels", "priority", "dry_run", "notes", "vendor", "region", "cost_center", "attachment"}

// writer makes nested objects of up to eight members in random order.
type writer struct {
	rnd *rand.Rand
	strings.Builder
}

func (w *writer) object(depth int) {
	w.WriteString("{")
	names := w.rnd.Perm(len(words))[:5+w.rnd.IntN(4)]
	for i, n := range names {
		if i > 0 {
			w.WriteString(", ")
		}
		w.WriteString(strconv.Quote(words[n]) + ": ")
		w.value(depth)
	}
	w.WriteString("}")
}

func (w *writer) value(depth int) {
	switch w.rnd.IntN(7) {
	case 0:
		fmt.Fprint(w, w.rnd.IntN(1_000_000))
	case 1:
		fmt.Fprint(w, strconv.FormatFloat(float64(w.rnd.IntN(1_000_000))/100, 'f', -1, 64))
	case 2:
		fmt.Fprint(w, w.rnd.IntN(2) == 0)
	case 3:
		if depth < 4 {
			w.object(depth + 1)
		} else {
			w.WriteString("null")
		}
	case 4:
		fmt.Fprintf(w, `["alpha", "beta", %d]`, w.rnd.IntN(100))
	case 5:
		fmt.Fprintf(w, `"Zahlung für Jürgen – 支払い \"quoted\"\n%d"`, w.rnd.IntN(1000))
	default:
		fmt.Fprintf(w, `"VENDOR-%06d payment for invoice %d, second half"`, w.rnd.IntN(1_000_000), w.rnd.IntN(100_000))
	}
}

// largeCall is always the same object with a list of nested ones, of about size bytes.
func largeCall(size int) []byte {
	w := writer{rnd: rand.New(rand.NewPCG(8785, uint64(size)))}
	w.WriteString(`{"calls": [`)
	w.object(0)
	for w.Len() < size {
		w.WriteString(", ")
		w.object(0)
	}
	w.WriteString("]}")
	return []byte(w.String())
}

// text is one input with its name.
type text struct {
	name string
	raw  []byte
}

func calls() []text {
	return []text{
		{"213 B", []byte(smallCall)},
		{"3.7 KB", largeCall(3_550)},
		{"1 MB", largeCall(1_040_000)},
	}
}

// worst are texts of about n bytes that have made some reader slow: each is
// within the limits on values, depth and size.
func worst(n int) []text {
	var flat, twins, wide, alike, late strings.Builder
	for i := range min(n/11, 90_000) {
		fmt.Fprintf(&flat, `"k%05d":0,`, i*7919%99_991)
		fmt.Fprintf(&twins, `"K%05d":0,`, i)
		fmt.Fprintf(&late, `"k%05d":0,`, 99_999-i)
	}
	for i := range n / 22 {
		fmt.Fprintf(&wide, `"É%05dſ":"",`, i)
	}
	long := strings.Repeat("x", 1000)
	for i := range n / 1010 {
		fmt.Fprintf(&alike, `"%s%04d":0,`, long, i*997%9973)
	}
	deep := strings.Repeat(`{"b":0,"a":`, 60) + `"` + strings.Repeat("x", n/60) + `"` + strings.Repeat("}", 60)
	sixteen := `{"Ü1":0,"ü2":0,"Ü3":0,"ü4":0,"Ü5":0,"ü6":0,"Ü7":0,"ü8":0,"Ü9":0,"ü10":0,"Ü11":0,"ü12":0,"Ü13":0,"ü14":0,"Ü15":0,"ü16":0},`
	return []text{
		{"many names, no order", []byte("{" + flat.String() + `"":0}`)},
		{"many names, backwards", []byte("{" + late.String() + `"":0}`)},
		{"many capitals", []byte("{" + twins.String() + `"":0}`)},
		{"many names beyond ASCII", []byte("{" + wide.String() + `"":0}`)},
		{"long names that begin alike", []byte("{" + alike.String() + `"":0}`)},
		{"small objects beyond ASCII", []byte("[" + strings.Repeat(sixteen, min(n/len(sixteen), 5_500)) + "0]")},
		{"deep, no order", []byte("[" + strings.Repeat(deep+",", n/len(deep)) + "0]")},
		{"deep objects", []byte("[" + strings.Repeat(strings.Repeat(`{"bbbbbb":0,"aaaaaa":`, 62)+"0"+strings.Repeat("}", 62)+",", min(n/1366, 750)) + "0]")},
		{"open arrays", []byte("[" + strings.Repeat(strings.Repeat("[", 63)+strings.Repeat("]", 63)+",", min(n/127, 1500)) + "0]")},
		{"small numbers", []byte("[" + strings.Repeat("0, 0,       ", min(n/12, 49_000)) + "0]")},
		{"long numbers", []byte("[" + strings.Repeat("0."+strings.Repeat("0", 290)+"12345678901234567,", n/310) + "0]")},
		{"numbers of 17 digits", []byte("[" + strings.Repeat("0.12345678901234568,", n/20) + "0]")},
		{"exponents", []byte("[" + strings.Repeat("1.5e-290,", n/9*8/10) + "0]")},
		{"escapes", []byte(`"` + strings.Repeat(`\u00e9`, n/6) + `"`)},
		{"pairs of escapes", []byte(`"` + strings.Repeat(`\ud83d\ude00`, n/12) + `"`)},
		{"escaped control characters", []byte(`"` + strings.Repeat(`\u0001`, n/6) + `"`)},
		{"escaped names", []byte("[" + strings.Repeat(`{"\u0062\n":"","\u0061\n":""},`, n/33) + "0]")},
		{"beyond ASCII", []byte(`"` + strings.Repeat("é", n/2-1) + `"`)},
		{"white space", []byte(strings.Repeat(" ", n-1) + "0")},
		{"one long string", []byte(`"` + strings.Repeat("a", n-2) + `"`)},
	}
}
