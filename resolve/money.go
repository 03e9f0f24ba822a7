package resolve

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/seed-de4804fb/verbatim/canon"
)

// The roles of [Money]. Text holds all three in one string, such as
// "8.4 thousand USD", in place of the others.
const (
	RoleAmount      = "amount"
	RoleUnit        = "unit"
	RoleCurrency    = "currency"
	RoleText        = "text"
	RoleAmountMinor = "amountMinor"
)

// The rules that a refusal of [Money] names.
const (
	RuleAmount    = "amount"     // not an amount in plain decimal digits
	RuleUnit      = "unit"       // an unknown unit
	RuleCurrency  = "currency"   // an unknown currency, or one without a minor unit
	RuleRemainder = "minor_unit" // more digits than the currency has
	RuleRange     = "range"      // beyond ±(2^53-1) minor units
)

// MoneyOptions configure a [Money] resolver. All are optional.
type MoneyOptions struct {
	// Currency is used where the arguments name none, as an ISO 4217 code.
	Currency string
	// Aliases give other names of currencies, such as "$" or "euro", their
	// code. They match exactly, or with Fold without regard to case and
	// amount of white space.
	Aliases map[string]string
	Fold    bool
	// ExactDigits wants an amount in the main unit to have no fraction or all
	// digits of the currency: 10 or 10.10, not 10.1.
	ExactDigits bool
}

// Money turns an amount with a unit and a currency into minor units and a
// code. It computes in exact decimals; what is left below the minor unit is
// refused, never rounded. It never converts between currencies.
//
// An amount is a number or a string of plain decimal digits with a point: no
// exponent, no plus sign, no grouping ("1,000" means two things), no space. A
// unit is "", minor, hundred, thousand (k), lakh, million (mn), crore, billion
// (bn, 10^9) or trillion (10^12), without regard to ASCII case.
type Money struct {
	opt     MoneyOptions
	aliases map[string]string
	version string
}

var _ Resolver = (*Money)(nil)

// NewMoney checks the options: every code must have a minor unit, and no
// alias may stand for another currency's code.
func NewMoney(opt MoneyOptions) (*Money, error) {
	m := &Money{opt: opt, aliases: map[string]string{}, version: CurrencyTable}
	if opt.Currency != "" {
		if _, ok := CurrencyDigits(opt.Currency); !ok {
			return nil, fmt.Errorf("currency %q is no ISO 4217 code with a minor unit", opt.Currency)
		}
	}
	members := []canon.Member{{Name: "default", Value: canon.StringValue(opt.Currency)},
		{Name: "exactDigits", Value: canon.BoolValue(opt.ExactDigits)}, {Name: "fold", Value: canon.BoolValue(opt.Fold)}}
	var aliases []canon.Member
	for _, alias := range sortedKeys(opt.Aliases) {
		code := opt.Aliases[alias]
		if err := m.addAlias(alias, code); err != nil {
			return nil, err
		}
		aliases = append(aliases, canon.Member{Name: alias, Value: canon.StringValue(code)})
	}
	config := canon.ObjectValue(append(members, canon.Member{Name: "aliases", Value: canon.ObjectValue(aliases...)})...)
	if err := canon.Check(config); err != nil {
		return nil, fmt.Errorf("currency aliases: %w", err)
	}
	m.version += "+" + short(canon.Sum(config.Canonical()))
	return m, nil
}

func (m *Money) addAlias(alias, code string) error {
	if _, ok := CurrencyDigits(code); !ok {
		return fmt.Errorf("currency alias %q: %q is no ISO 4217 code with a minor unit", alias, code)
	}
	if _, taken := currencyDigits[strings.ToUpper(alias)]; alias == "" || taken && strings.ToUpper(alias) != code {
		return fmt.Errorf("currency alias %q is empty or the code of another currency", alias)
	}
	key := m.key(alias)
	if old, ok := m.aliases[key]; ok && old != code {
		return fmt.Errorf("currency alias %q stands for %s and %s", alias, old, code)
	}
	m.aliases[key] = code
	return nil
}

func (m *Money) key(alias string) string {
	if m.opt.Fold {
		return fold(alias)
	}
	return alias
}

// Roles tells which roles the rule of a catalog may bind.
func (m *Money) Roles() Roles {
	return Roles{In: []string{RoleAmount, RoleCurrency, RoleText, RoleUnit}, Out: []string{RoleAmountMinor, RoleCurrency},
		Need: []string{RoleAmountMinor, RoleCurrency}, Some: []string{RoleAmount, RoleText}}
}

// Resolve answers amountMinor and currency.
func (m *Money) Resolve(_ context.Context, in map[string]canon.Value) (Answer, error) {
	said, err := m.read(in)
	if err != nil {
		return Answer{}, err
	}
	code, digits, err := m.currency(said)
	if err != nil {
		return Answer{}, err
	}
	minor, err := m.minor(said, digits)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Version: m.version, Values: map[string]canon.Value{
		RoleAmountMinor: canon.IntValue(minor), RoleCurrency: canon.StringValue(code)}}, nil
}

// spoken is what the arguments say, with the role to blame for each part.
type spoken struct {
	amount, unit, currency             string
	amountRole, unitRole, currencyRole string
	silent                             bool // no currency was named; "" is not silence
}

func (m *Money) read(in map[string]canon.Value) (spoken, error) {
	s := spoken{amountRole: "/" + RoleAmount, unitRole: "/" + RoleUnit, currencyRole: "/" + RoleCurrency}
	if text, ok := in[RoleText]; ok {
		if len(in) > 1 {
			return spoken{}, canon.Refuse("/"+RoleText, RuleAmbiguous, "the amount in one place")
		}
		return readText(text)
	}
	_, named := in[RoleCurrency]
	s.silent = !named
	var err error
	if s.amount, err = amountText(in[RoleAmount]); err != nil {
		return spoken{}, err
	}
	if s.unit, err = optionalText(in, RoleUnit, RuleUnit, "a unit such as thousand, as a string"); err != nil {
		return spoken{}, err
	}
	s.currency, err = optionalText(in, RoleCurrency, RuleCurrency, "a currency as a string")
	return s, err
}

// readText reads "AMOUNT CURRENCY" or "AMOUNT UNIT CURRENCY".
func readText(v canon.Value) (spoken, error) {
	role := "/" + RoleText
	parts := strings.Fields(v.Text())
	if len(parts) < 2 || len(parts) > 3 {
		return spoken{}, canon.Refuse(role, RuleAmount, "an amount, a unit if any, and a currency, with spaces between")
	}
	s := spoken{amount: parts[0], currency: parts[len(parts)-1], amountRole: role, unitRole: role, currencyRole: role}
	if len(parts) == 3 {
		s.unit = parts[1]
	}
	return s, nil
}

func amountText(v canon.Value) (string, error) {
	switch v.Kind() {
	case canon.String:
		return v.Text(), nil
	case canon.Number:
		return plain(v.NumberText()), nil
	default:
		return "", canon.Refuse("/"+RoleAmount, RuleAmount, "an amount as a number or a decimal string")
	}
}

// plain writes the RFC 8785 text of a number without an exponent.
func plain(text string) string {
	d, _, err := apd.NewFromString(text)
	if err != nil {
		return text
	}
	return d.Text('f')
}

func optionalText(in map[string]canon.Value, role, rule, expected string) (string, error) {
	v, ok := in[role]
	if !ok {
		return "", nil
	}
	if v.Kind() != canon.String {
		return "", canon.Refuse("/"+role, rule, expected)
	}
	return v.Text(), nil
}

func (m *Money) currency(s spoken) (code string, digits int, err error) {
	code = s.currency
	if s.silent {
		code = m.opt.Currency
	}
	if alias, ok := m.aliases[m.key(code)]; ok {
		code = alias
	} else if upper := strings.ToUpper(code); asciiLower(upper) == asciiLower(code) {
		code = upper
	}
	if digits, ok := CurrencyDigits(code); ok {
		return code, digits, nil
	}
	return "", 0, canon.Refuse(s.currencyRole, RuleCurrency, "an ISO 4217 code with a minor unit, or an alias in the catalog")
}

// powers of ten of the units; minor is handled by its caller.
var unitPowers = map[string]int32{
	"": 0, "hundred": 2, "thousand": 3, "k": 3, "lakh": 5, "million": 6, "mn": 6, "crore": 7,
	"billion": 9, "bn": 9, "trillion": 12,
}

const unitMinor = "minor"

// minor computes the amount in minor units.
func (m *Money) minor(s spoken, digits int) (int64, error) {
	d, fraction, ok := parseAmount(s.amount)
	if !ok {
		return 0, canon.Refuse(s.amountRole, RuleAmount, "plain decimal digits, such as 1234.50")
	}
	unit := asciiLower(s.unit)
	power, known := unitPowers[unit]
	switch {
	case unit == unitMinor:
		digits, power = 0, 0
	case !known:
		return 0, canon.Refuse(s.unitRole, RuleUnit, `"", minor, hundred, thousand, lakh, million, crore, billion or trillion`)
	case m.opt.ExactDigits && unit == "" && fraction != 0 && fraction != digits:
		return 0, canon.Refuse(s.amountRole, RuleRemainder, fmt.Sprintf("no fraction, or one of exactly %d digits as a string", digits))
	}
	d.Exponent += power + int32(digits)
	d.Reduce(d)
	if d.Exponent < 0 {
		return 0, canon.Refuse(s.amountRole, RuleRemainder, "an amount in whole minor units of the currency")
	}
	i, err := d.Int64()
	if err != nil || i > canon.MaxSafeInteger || i < -canon.MaxSafeInteger {
		return 0, canon.Refuse(s.amountRole, RuleRange, "an amount within ±9007199254740991 minor units")
	}
	return i, nil
}

// maxAmountBytes bounds the work of one amount; every amount in range fits.
const maxAmountBytes = 400

// parseAmount reads -?(0|[1-9][0-9]*)(\.[0-9]+)? and returns the number of
// digits behind the point. -0 is no amount (semantics §1).
func parseAmount(s string) (d *apd.Decimal, fraction int, ok bool) {
	if len(s) > maxAmountBytes {
		return nil, 0, false
	}
	whole, rest, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if !allDigits(whole) || len(whole) > 1 && whole[0] == '0' || point && !allDigits(rest) {
		return nil, 0, false
	}
	d, _, err := apd.NewFromString(s)
	if err != nil || d.IsZero() && d.Negative {
		return nil, 0, false
	}
	return d, len(rest), true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// short names a version by the first digits of a digest.
func short(d canon.Digest) string { return d.String()[:12] }
