package resolve

import (
	_ "embed"
	"strings"
)

// The table is ISO 4217 list one with its amendments: code, number and digits
// of the minor unit, empty where the standard says that there is none (gold,
// special drawing rights, test codes). Codes that were withdrawn lately stay,
// so that a refund of an old payment can still be said.
//
//go:embed iso4217.csv
var currencyFile string

// CurrencyTable is the version of the currency table. It moves with every
// change of the file.
const CurrencyTable = "iso4217-2026.1"

// noMinorUnit marks a code that cannot be counted in minor units.
const noMinorUnit = -1

var currencyDigits = parseCurrencies(currencyFile)

func parseCurrencies(file string) map[string]int {
	table := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(file), "\n")[1:] {
		code, rest, _ := strings.Cut(line, ",")
		_, digits, _ := strings.Cut(rest, ",")
		table[code] = noMinorUnit
		if digits != "" {
			table[code] = int(digits[0] - '0')
		}
	}
	return table
}

// CurrencyDigits returns how many digits the minor unit of an ISO 4217 code
// has. ok is false if the code is unknown or has no minor unit.
func CurrencyDigits(code string) (digits int, ok bool) {
	digits, ok = currencyDigits[code]
	if !ok || digits == noMinorUnit {
		return 0, false
	}
	return digits, true
}

// Currencies returns every code that has a minor unit, sorted.
func Currencies() []string {
	var codes []string
	for _, code := range sortedKeys(currencyDigits) {
		if currencyDigits[code] != noMinorUnit {
			codes = append(codes, code)
		}
	}
	return codes
}
