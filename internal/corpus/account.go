package corpus

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// account is what the user's own bank account says before the first call:
// whom the user pays, how much there is, and the standing orders.
type account struct {
	payees  []string
	balance string
	orders  []string
}

// The lines of the starting environment that are read. It is flat enough for
// that; what is missing is an error, never an empty list.
var (
	lineIBAN      = regexp.MustCompile(`^  iban: "([A-Z0-9]+)"$`)
	lineBalance   = regexp.MustCompile(`^  balance: ([0-9]+\.[0-9]{1,4})$`)
	lineRecipient = regexp.MustCompile(`^      recipient: "([A-Z0-9]+)"$`)
	lineID        = regexp.MustCompile(`^    - id: ([0-9]+)$`)
	lineScheduled = regexp.MustCompile(`^  scheduled_transactions:$`)
)

func readAccount(path string) (account, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return account{}, fmt.Errorf("read suite: %w", err)
	}
	var a account
	own, scheduled := "", false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		scheduled = scheduled || lineScheduled.MatchString(line)
		if m := lineIBAN.FindStringSubmatch(line); m != nil {
			own = m[1]
		}
		if m := lineBalance.FindStringSubmatch(line); m != nil {
			a.balance = m[1]
		}
		if m := lineID.FindStringSubmatch(line); m != nil && scheduled {
			a.orders = append(a.orders, m[1])
		}
		if m := lineRecipient.FindStringSubmatch(line); m != nil && m[1] != own && !slices.Contains(a.payees, m[1]) {
			a.payees = append(a.payees, m[1])
		}
	}
	if own == "" || a.balance == "" || len(a.payees) == 0 || len(a.orders) == 0 {
		return a, errors.New("read suite: the starting environment of the bank is not as it was")
	}
	return a, nil
}

// fill puts the account's facts where the policy names them.
func (a account) fill(policy []byte) []byte {
	payees := `"` + strings.Join(a.payees, `", "`) + `"`
	return []byte(strings.NewReplacer(
		`"PAYEES"`, payees,
		`decimal("0.0")`, `decimal("`+a.balance+`")`,
		`[-1]`, `[`+strings.Join(a.orders, ", ")+`]`,
	).Replace(string(policy)))
}
