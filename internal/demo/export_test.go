package demo

import "github.com/seed-de4804fb/verbatim/internal/config"

// What the tests of this package reach into.
type (
	Payment = payment
	Stage   = stage
)

const (
	FirstPayment   = firstPayment
	LedgerFile     = ledgerFile
	LedgerSchema   = ledgerSchema
	PolicyText     = policyText
	Red            = red
	TransferSchema = transferSchema
	Width          = width
)

var (
	AppendLedger = appendLedger
	Fold         = fold
	Furnish      = furnish
	ReadLedger   = readLedger
)

func NewStage(home config.Home, p *Paper) *Stage { return &stage{cfg: Config{Out: p}, home: home} }

func (s *stage) LedgerHolds(want ...string) error { return s.ledgerHolds(want...) }
func (s *stage) Unchanged(want ...string) error   { return s.unchanged(want...) }

func (p *Paper) Title(text string)                             { p.title(text) }
func (p *Paper) Says(who, format string, args ...any)          { p.says(who, format, args...) }
func (p *Paper) Verdict(color int, format string, args ...any) { p.verdict(color, format, args...) }
