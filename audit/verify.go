package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
)

// ErrFaults is returned for a log that is not what its checkpoints say. The
// report beside it says what is wrong.
var ErrFaults = errors.New("the log has faults")

// ErrNothing is returned for a log without a record: there is nothing that
// could be verified, so nothing is.
var ErrNothing = errors.New("the log is empty, so nothing is verified")

// maxFaults is how many faults a report names.
const maxFaults = 20

// Outside is a signed checkpoint that was kept elsewhere, out of the reach of
// whoever can write the store: in a file, by a witness.
type Outside struct {
	Name   string // where it is from
	Signed []byte
}

// Report says what a check of a whole log found.
type Report struct {
	Origin   string    `json:"origin"`
	Records  int64     `json:"records"` // in the tree
	Waiting  int64     `json:"waiting"` // written, not in the tree yet
	Root     string    `json:"root"`
	LastAt   time.Time `json:"lastAt"` // of the last record in the tree
	Signed   int64     `json:"signed"` // up to here the log's own checkpoint goes
	Outside  []Outer   `json:"outside"`
	Complete int64     `json:"completeTo"` // 0: no checkpoint from elsewhere says so
	Faults   []string  `json:"faults"`
	More     int       `json:"more"` // faults beyond those named
}

// Outer is a checkpoint from elsewhere that the log agrees with.
type Outer struct {
	Name      string               `json:"name"`
	Size      int64                `json:"size"`
	ByLog     bool                 `json:"byLog"`
	Witnesses map[string]time.Time `json:"witnesses"`
}

func (r *Report) fault(format string, args ...any) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// Claim is what the report proves, in one sentence. It claims no more.
func (r Report) Claim() string {
	switch {
	case len(r.Faults) > 0 || r.More > 0:
		return "The log is not what its checkpoints say."
	case r.Records == 0:
		return "The log is empty, so nothing is verified."
	case r.Complete > 0:
		return fmt.Sprintf("Complete up to record %d: none of the first %d records was changed, moved, added or removed since the checkpoint from elsewhere was made.",
			r.Complete, r.Complete)
	default:
		return "The log agrees with itself. No checkpoint from elsewhere was given, so whoever holds the store and the log's key could have rewritten or cut off all of it."
	}
}

// Verify reads a whole log: that records are numbered without a gap and are
// what the tree was made of, that the tree is stored as it must be, that its
// head is the one that the log has signed, and that every checkpoint from
// elsewhere is of the same history. It fails with ErrFaults or ErrNothing
// beside the report.
func Verify(ctx context.Context, l Log, trust Trust, outside ...Outside) (Report, error) {
	v := &verifier{log: l, trust: trust, wanted: map[int64]canon.Digest{}}
	if err := v.prepare(ctx, outside); err != nil {
		return v.report, fmt.Errorf("verify the log: %w", err)
	}
	if err := v.readAll(ctx); err != nil {
		return v.report, fmt.Errorf("verify the log: %w", err)
	}
	v.compare()
	switch {
	case len(v.report.Faults) > 0:
		return v.report, ErrFaults
	case v.report.Records == 0:
		return v.report, ErrNothing
	}
	return v.report, nil
}

type verifier struct {
	log     Log
	trust   Trust
	report  Report
	head    Head
	own     *Opened // the log's own newest checkpoint
	outside []opened
	wanted  map[int64]canon.Digest // roots at these sizes, once they are read
	tree    Tree
}

type opened struct {
	name string
	Opened
}

// prepare opens all checkpoints. The newest of the log is read before its
// head, so that a log that grows meanwhile shows no fault.
func (v *verifier) prepare(ctx context.Context, outside []Outside) (err error) {
	if v.report.Origin, err = v.log.Origin(ctx); err != nil {
		return err
	}
	signed, err := v.log.LatestCheckpoint(ctx)
	if err != nil {
		return err
	}
	if v.head, err = v.log.Head(ctx); err != nil {
		return err
	}
	if signed != nil {
		if o, err := v.trust.Open(signed); err != nil {
			v.report.fault("the newest checkpoint of the log: %v", err)
		} else {
			v.own = &o
			v.wanted[o.Size] = canon.Digest{}
		}
	} else if v.head.Size > 0 {
		v.report.fault("the log has a tree of %d records and no signed checkpoint", v.head.Size)
	}
	for _, from := range outside {
		o, err := v.trust.Open(from.Signed)
		if err != nil {
			v.report.fault("checkpoint %s: %v", from.Name, err)
			continue
		}
		v.outside = append(v.outside, opened{from.Name, o})
		v.wanted[o.Size] = canon.Digest{}
	}
	return nil
}

func (v *verifier) readAll(ctx context.Context) error {
	v.note()
	for {
		entries, err := v.log.Entries(ctx, Selection{From: v.tree.size + v.report.Waiting, Most: MaxEntries})
		if err != nil {
			return err
		}
		if err := v.take(ctx, entries); err != nil {
			return err
		}
		if len(entries) == 0 {
			return nil
		}
	}
}

// take checks some records that follow each other.
func (v *verifier) take(ctx context.Context, entries []Entry) error {
	var leaves []canon.Digest
	before := v.tree.size
	for _, e := range entries {
		if v.tree.size+v.report.Waiting != e.Index {
			v.report.fault("record %d is followed by record %d", v.tree.size+v.report.Waiting, e.Index+1)
			return ErrFaults
		}
		r, err := ParseLeaf(e.Leaf)
		if err != nil {
			v.report.fault("record %d: %v", e.Index+1, err)
		} else if r.Seq != e.Index+1 {
			v.report.fault("record %d says that it is number %d", e.Index+1, r.Seq)
		}
		if e.Index >= v.head.Size {
			v.report.Waiting++
			continue
		}
		leaf := LeafHash(e.Leaf)
		leaves = append(leaves, leaf)
		v.tree.Add(leaf)
		v.report.LastAt = r.At
		v.note()
	}
	return v.checkStored(ctx, before, leaves)
}

// note keeps the root at a size that a checkpoint is of.
func (v *verifier) note() {
	if _, wanted := v.wanted[v.tree.size]; wanted {
		v.wanted[v.tree.size] = v.tree.Head().Root
	}
}

// checkStored compares the tree that is stored with the one that these
// records make. What was stored before them is compared already.
func (v *verifier) checkStored(ctx context.Context, before int64, leaves []canon.Digest) error {
	if len(leaves) == 0 {
		return nil
	}
	want, _, err := Grow(before, leaves, HashesOf(ctx, v.log))
	if err != nil {
		return err
	}
	positions := make([]int64, len(want))
	for i := range positions {
		positions[i] = StoredHashes(before) + int64(i)
	}
	got, err := v.log.Hashes(ctx, positions)
	if err != nil || len(got) != len(want) {
		v.report.fault("hashes of the records %d to %d are missing in the tree", before+1, before+int64(len(leaves)))
		return nil
	}
	for i := range want {
		if got[i] != want[i] {
			v.report.fault("the tree differs from the records %d to %d", before+1, before+int64(len(leaves)))
			return nil
		}
	}
	return nil
}

// compare compares what was read with every checkpoint.
func (v *verifier) compare() {
	r := &v.report
	now := v.tree.Head()
	r.Records, r.Root = now.Size, now.Root.String()
	switch {
	case now.Size < v.head.Size:
		r.fault("the tree has %d records, %d are there", v.head.Size, now.Size)
	case now.Root != v.head.Root:
		r.fault("the root of the tree is not that of the records")
	}
	if v.own != nil {
		if v.agrees("the newest checkpoint of the log", *v.own) {
			r.Signed = v.own.Size
		}
	}
	for _, o := range v.outside {
		if v.agrees("checkpoint "+o.name, o.Opened) {
			r.Complete = max(r.Complete, o.Size)
			r.Outside = append(r.Outside, Outer{Name: o.name, Size: o.Size, ByLog: o.ByLog, Witnesses: o.Witnesses})
		}
	}
}

func (v *verifier) agrees(name string, o Opened) bool {
	r := &v.report
	switch {
	case o.Origin != r.Origin:
		r.fault("%s is of another log, %s: this one was restored from a backup, or is not the one that it stands for", name, o.Origin)
	case o.Size > r.Records:
		r.fault("%s is of %d records, the log has %d: the end was cut off", name, o.Size, r.Records)
	case v.wanted[o.Size] != o.Root:
		r.fault("%s has another root: one of the first %d records was changed, moved, added or removed", name, o.Size)
	default:
		return true
	}
	return false
}
