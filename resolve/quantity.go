package resolve

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/seed-de4804fb/verbatim/canon"
)

// RuleBaseUnit is what a refusal of [Quantity] names when the quantity is no
// whole number of base units. Its other rules are [RuleAmount], [RuleUnit]
// and [RuleRange].
const RuleBaseUnit = "base_unit"

// QuantityOptions configure a [Quantity] resolver.
type QuantityOptions struct {
	// Dimension is one of the built-in sets of units; empty where Units hold
	// all of them.
	Dimension string
	// Base is the unit that results are counted in. Required: a number
	// without a unit is what this resolver is there to prevent.
	Base string
	// Unit is used where the arguments name none. Empty: they must.
	Unit string
	// Units declare more units: a name and its size in base units, as a
	// decimal. None may give a built-in name another size.
	Units map[string]string
}

// Quantity turns a number with a unit into an integer of the base unit. It
// computes in exact decimals; what is left below the base unit is refused,
// never rounded. It never converts between dimensions.
//
// An amount is what [Money] calls one: a number or a string of plain decimal
// digits with a point. The names of units are compared byte for byte: mB and
// MB are two things, and so are Mb and MB.
type Quantity struct {
	opt     QuantityOptions
	sizes   map[string]*apd.Decimal // by name, of one unit, in any common scale
	base    *apd.Decimal            // size of the base unit on that scale
	version string
}

var _ Resolver = (*Quantity)(nil)

// NewQuantity checks the options: the base unit and the default unit must be
// known, and every declared unit must have one positive size.
func NewQuantity(opt QuantityOptions) (*Quantity, error) {
	q := &Quantity{opt: opt, sizes: map[string]*apd.Decimal{}}
	if err := q.builtIn(); err != nil {
		return nil, err
	}
	if err := q.declared(); err != nil {
		return nil, err
	}
	if opt.Unit != "" && q.sizes[opt.Unit] == nil {
		return nil, fmt.Errorf("default unit %q is not known", opt.Unit)
	}
	var err error
	q.version, err = configured(UnitTable, textMember("dimension", opt.Dimension), textMember("base", opt.Base),
		textMember("unit", opt.Unit), mapMember("units", opt.Units))
	return q, err
}

func (q *Quantity) builtIn() error {
	units, ok := dimensions[q.opt.Dimension]
	if !ok && q.opt.Dimension != "" {
		return fmt.Errorf("dimension %q is none of %s", q.opt.Dimension, strings.Join(Dimensions(), ", "))
	}
	for _, u := range units {
		size, err := positive(u.size)
		if err != nil {
			return err
		}
		for _, name := range u.names {
			q.sizes[name] = size
		}
	}
	q.base = q.sizes[q.opt.Base]
	if q.base != nil {
		return nil
	}
	if q.opt.Base == "" || q.opt.Dimension != "" {
		return fmt.Errorf("base unit %q is no unit of the dimension %q", q.opt.Base, q.opt.Dimension)
	}
	if err := unitName(q.opt.Base); err != nil {
		return err
	}
	q.base = apd.New(1, 0)
	q.sizes[q.opt.Base] = q.base
	return nil
}

func (q *Quantity) declared() error {
	for _, name := range sortedKeys(q.opt.Units) {
		if err := unitName(name); err != nil {
			return err
		}
		size, err := positive(q.opt.Units[name])
		if err != nil {
			return fmt.Errorf("unit %q: %w", name, err)
		}
		size = product(size, q.base)
		if old := q.sizes[name]; old != nil && old.Cmp(size) != 0 {
			return fmt.Errorf("unit %q has another size already", name)
		}
		q.sizes[name] = size
	}
	return nil
}

// unitName refuses names that could not be said in a text with an amount.
func unitName(name string) error {
	if name == "" || len(strings.Fields(name)) != 1 || strings.Fields(name)[0] != name || strings.ContainsAny(name[:1], "0123456789.-+") {
		return fmt.Errorf("unit %q: a name has no space and starts with no digit, sign or point", name)
	}
	return nil
}

func positive(text string) (*apd.Decimal, error) {
	d, _, ok := parseAmount(text)
	if !ok || d.Sign() <= 0 || len(text) > maxSizeBytes {
		return nil, fmt.Errorf("size is no positive decimal such as 12 or 0.0254, of at most %d digits", maxSizeBytes)
	}
	return d, nil
}

// maxSizeBytes bounds the work of one conversion.
const maxSizeBytes = 40

// product is exact: it multiplies coefficients and adds exponents.
func product(a, b *apd.Decimal) *apd.Decimal {
	out := &apd.Decimal{Exponent: a.Exponent + b.Exponent, Negative: a.Negative != b.Negative}
	out.Coeff.Mul(&a.Coeff, &b.Coeff)
	return out
}

// Base is the name of the unit that results are counted in.
func (q *Quantity) Base() string { return q.opt.Base }

// Roles tells which roles the rule of a catalog may bind.
func (q *Quantity) Roles() Roles {
	return Roles{In: []string{RoleAmount, RoleText, RoleUnit}, Out: []string{RoleValue},
		Need: []string{RoleValue}, Some: []string{RoleAmount, RoleText}}
}

// Resolve answers the number of base units.
func (q *Quantity) Resolve(_ context.Context, in map[string]canon.Value) (Answer, error) {
	said, err := q.read(in)
	if err != nil {
		return Answer{}, err
	}
	n, err := q.count(said)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Version: q.version, Values: map[string]canon.Value{RoleValue: canon.IntValue(n)}}, nil
}

func (q *Quantity) read(in map[string]canon.Value) (spoken, error) {
	s := spoken{amountRole: "/" + RoleAmount, unitRole: "/" + RoleUnit}
	if text, ok := in[RoleText]; ok {
		if len(in) > 1 {
			return spoken{}, canon.Refuse("/"+RoleText, RuleAmbiguous, "the quantity in one place")
		}
		return q.readText(text)
	}
	var err error
	if s.amount, err = amountText(in[RoleAmount]); err != nil {
		return spoken{}, err
	}
	if _, named := in[RoleUnit]; !named {
		s.unit = q.opt.Unit
		return s, nil
	}
	s.unit, err = optionalText(in, RoleUnit, RuleUnit, "a unit as a string")
	return s, err
}

// readText reads "AMOUNT", "AMOUNT UNIT" or "AMOUNTUNIT".
func (q *Quantity) readText(v canon.Value) (spoken, error) {
	s := spoken{amountRole: "/" + RoleText, unitRole: "/" + RoleText, unit: q.opt.Unit}
	if v.Kind() == canon.Number {
		s.amount = plain(v.NumberText())
		return s, nil
	}
	parts := strings.Fields(v.Text())
	if len(parts) < 1 || len(parts) > 2 {
		return spoken{}, canon.Refuse("/"+RoleText, RuleAmount, "an amount and a unit, such as 5 GiB")
	}
	s.amount = parts[0]
	if len(parts) == 2 {
		s.unit = parts[1]
		return s, nil
	}
	if end := strings.IndexFunc(s.amount, func(r rune) bool { return !strings.ContainsRune("0123456789.-", r) }); end > 0 {
		s.amount, s.unit = s.amount[:end], s.amount[end:]
	}
	return s, nil
}

// count computes the quantity in base units.
func (q *Quantity) count(s spoken) (int64, error) {
	d, _, ok := parseAmount(s.amount)
	if !ok {
		return 0, canon.Refuse(s.amountRole, RuleAmount, "plain decimal digits, such as 1234.50")
	}
	size := q.sizes[s.unit]
	if size == nil {
		return 0, canon.Refuse(s.unitRole, RuleUnit, "a unit of the catalog, spelled as there")
	}
	n, whole := quotient(product(d, size), q.base)
	if !whole {
		return 0, canon.Refuse(s.amountRole, RuleBaseUnit, "a whole number of the base unit")
	}
	if !n.IsInt64() || n.Int64() > canon.MaxSafeInteger || n.Int64() < -canon.MaxSafeInteger {
		return 0, canon.Refuse(s.amountRole, RuleRange, "a quantity within ±9007199254740991 base units")
	}
	return n.Int64(), nil
}

// quotient divides exactly; whole is false if something is left over.
func quotient(a, b *apd.Decimal) (n *apd.BigInt, whole bool) {
	num, den := new(apd.BigInt).Set(&a.Coeff), new(apd.BigInt).Set(&b.Coeff)
	power := func(e int32) *apd.BigInt {
		return new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(int64(e)), nil)
	}
	if e := a.Exponent - b.Exponent; e >= 0 {
		num.Mul(num, power(e))
	} else {
		den.Mul(den, power(-e))
	}
	n, rest := new(apd.BigInt).QuoRem(num, den, new(apd.BigInt))
	if a.Negative {
		n.Neg(n)
	}
	return n, rest.Sign() == 0
}
