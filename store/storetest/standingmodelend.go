package storetest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/audit"
)

// forward takes the next step of something that can go on: by chance alone most
// sequences never come to a run.
func (m *standingModel) forward(done map[string]int) func(*rapid.T) {
	did := func(step string, ok bool) {
		if ok {
			done[step]++
		}
	}
	return func(r *rapid.T) {
		for _, row := range m.rows {
			if row.row.State == action.Approved && m.now().Before(row.row.Deadline) {
				did("start", m.startRow(r, row))
				return
			}
		}
		who := rapid.SampledFrom([]string{bob, dana, danaToo}).Draw(r, "who")
		for _, row := range m.rows {
			if row.row.State != action.PendingApproval || !m.now().Before(row.row.Deadline) {
				continue
			}
			for _, g := range m.grants {
				if m.covers(g, row) {
					did("cover", m.coverBy(r, row, g))
					return
				}
				if g.two == row.two && g.revoker == "" && !m.signed(g) {
					did("sign", m.signBy(r, g, who))
					return
				}
			}
			did("grant", m.grantFrom(r, row, who))
			return
		}
		m.propose(r)
	}
}

// change loses an account, or changes the policy, now and then.
func (m *standingModel) change(r *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(r, "change") {
	case 0:
		m.newRules()
	case 1:
		who := rapid.SampledFrom([]string{ann, dana, danaToo}).Draw(r, "lost")
		m.b.must(m.b.book.Disable(m.b.Context(), m.id(who)))
		m.gone[who] = true
	default:
		r.Skip("nothing changes")
	}
}

func (m *standingModel) wait(r *rapid.T) {
	m.b.clock.add(time.Duration(rapid.IntRange(1, 12).Draw(r, "minutes")) * time.Minute)
}

// compare looks at every grant, and at every row that one has approved.
func (m *standingModel) compare(r *rapid.T) {
	var usable []string
	for _, g := range m.grants {
		got, err := m.b.store.StandingGrant(m.b.Context(), m.tenant, g.g.ID)
		m.answer(r, "look", err, nil)
		spent := got.Uses != g.uses || got.Spent != g.spent
		if spent || got.RevokedBy != g.revoker || got.RevokedAt.IsZero() != (g.revoker == "") || got.Digest != approval.StandingDigest(g.g) {
			r.Fatalf("used %d times for %d, revoked by %q; the model has %d, %d and %q", got.Uses, got.Spent, got.RevokedBy, g.uses, g.spent, g.revoker)
		}
		if g.revoker == "" && g.uses < g.g.MaxUses && m.now().Before(g.g.ExpiresAt) {
			usable = append(usable, g.g.ID)
		}
	}
	listed, err := m.b.store.Grants(m.b.Context(), action.StandingFilter{Tenant: m.tenant, Usable: true, Limit: 1000})
	m.answer(r, "list", err, nil)
	var ids []string
	for _, g := range slices.Backward(listed) {
		ids = append(ids, g.ID)
	}
	if !slices.Equal(ids, usable) {
		r.Fatalf("usable are %q; the model has %q", ids, usable)
	}
}

// compareRecords checks at the end what the log says was begun under each
// grant, and who is said to have signed it.
func (m *standingModel) compareRecords(r *rapid.T) {
	begun := map[string]int{}
	for _, row := range m.rows {
		records, err := m.b.store.Records(m.b.Context(), audit.Filter{Tenant: m.tenant, Action: row.row.ID})
		m.answer(r, "records", err, nil)
		for _, record := range records {
			if record.Event == audit.ActionStarted {
				begun[record.Facts["standing"]]++
			}
		}
		by, err := m.b.store.CoveredBy(m.b.Context(), m.tenant, row.row.ID)
		if m.answer(r, "covered by", err, because(row.by == nil, action.ErrNotFound)) && by.ID != row.by.g.ID {
			r.Fatalf("covered by %s; the model has %s", by.ID, row.by.g.ID)
		}
	}
	for _, g := range m.grants {
		votes, err := m.b.store.GrantVotes(m.b.Context(), m.tenant, g.g.ID)
		m.answer(r, "signatures", err, nil)
		var signers []string
		for _, v := range votes {
			signers = append(signers, v.Voter[len(m.tenant)+1:])
		}
		if begun[g.g.ID] != g.uses || !slices.Equal(signers, g.signers) {
			r.Fatalf("%d runs under %s, signed by %q; the model has %d and %q", begun[g.g.ID], g.g.ID, signers, g.uses, g.signers)
		}
	}
}
