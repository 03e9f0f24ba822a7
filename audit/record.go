package audit

import "time"

// Record is one entry of the audit log: which event moved which action, by
// whom, with stable references and salted commitments. It never holds an
// argument value (semantics §11).
type Record struct {
	Seq    int64     `json:"seq"` // dense order of commits; set by the store
	ID     string    `json:"id"`  // random
	At     time.Time `json:"at"`  // database clock
	Tenant string    `json:"tenant"`
	Event  string    `json:"event"` // closed list below
	Action string    `json:"action,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Agent  string    `json:"agent,omitempty"`
	By     string    `json:"by,omitempty"` // principal or account
	From   string    `json:"from,omitempty"`
	To     string    `json:"to,omitempty"`
	Code   string    `json:"code,omitempty"`
	// Facts are references without argument values: policyVersion, stage,
	// size, rule ids, definition digest.
	Facts map[string]string `json:"facts,omitempty"`
	// Commitments are HMAC-SHA256 of sensitive bytes under the record's salt,
	// in lowercase hex, by name: raw, requested, arguments, result.
	Commitments map[string]string `json:"commitments,omitempty"`
}

// Filter selects records. Zero fields select everything.
type Filter struct {
	Tenant string
	Action string
	Event  string
	Limit  int   // at most; 0 means 100
	Before int64 // seq of the last record of the page before; newest first
}
