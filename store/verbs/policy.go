package verbs

import (
	"strconv"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
)

// Version is the policy version of a digest and an epoch: the first 16 hex
// digits, a point, the epoch. Epoch 0, where no policy was ever set, has "".
func Version(digest canon.Digest, epoch int64) string {
	if epoch == 0 {
		return ""
	}
	return digest.String()[:16] + "." + strconv.FormatInt(epoch, 10)
}

// PolicyRecord is the record of rules that changed.
func PolicyRecord(tenant, tool string, digest canon.Digest, epoch int64) (audit.Record, Facts) {
	return audit.Record{Event: audit.PolicyChanged, Tenant: tenant, Tool: tool},
		Facts{"digest": digest.String(), "epoch": strconv.FormatInt(epoch, 10)}
}

// Stops checks that a turn of the freeze switch is one.
func Stops(s action.Stop) error {
	if s.By == "" || s.Tenant == "" && (s.Agent != "" || s.Tool != "") {
		return Invalid("stop by nobody, or of a tool of no tenant")
	}
	return nil
}

// MayStop says who may stop: any active account of the tenant, and of any where everything is
// stopped.
func MayStop(s action.Stop, who action.Person) error {
	if !who.Active || s.Tenant != "" && who.Tenant != s.Tenant {
		return action.ErrIneligible
	}
	return nil
}

// StopRecord is the record of a turn of the freeze switch.
func StopRecord(event string, s action.Stop) (audit.Record, Facts, Secrets) {
	return audit.Record{Event: event, Tenant: s.Tenant, Agent: s.Agent, Tool: s.Tool, By: s.By},
		Facts{"stops": s.Kind()}, Secrets{"reason": []byte(s.Reason)}
}
