package witness

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-de4804fb/verbatim/audit"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/internal/filelock"
	"github.com/seed-de4804fb/verbatim/keys"
)

// The bounds of a request.
const (
	maxProof   = 63 // hashes; C2SP tlog-witness
	maxRequest = audit.MaxCheckpoint + 4096 + maxProof*64
)

// sizeType is the content type of the size that a witness has (C2SP
// tlog-witness).
const sizeType = "text/x.tlog.size"

// Config is what a witness is made of. All but Now and Log are needed.
type Config struct {
	Name string       // of its key, such as "witness.example/w1"
	Key  *keys.Signer // of keys.Witnesses
	Dir  string       // its store: one file for each log
	Logs audit.Trust  // keys of the logs that it knows
	Now  func() time.Time
	Log  *slog.Logger // nil discards
}

// ErrOwned says that another witness has the directory.
var ErrOwned = errors.New("another witness has this directory")

// errUnowned: the check and the write are one step for whoever holds the lock
// only.
var errUnowned = errors.New("the lock of the witness's directory was removed")

// Witness is the HTTP handler. It alone has its directory until it is closed.
type Witness struct {
	cfg  Config
	mux  *http.ServeMux
	lock *filelock.Lock
	mu   sync.Mutex // held from the check of a checkpoint until it is on the disk
}

// New makes a witness. It fails where its name could not be the name of a key,
// where its directory cannot be made, and with ErrOwned where another has it.
func New(cfg Config) (*Witness, error) {
	switch {
	case cfg.Name == "" || strings.ContainsAny(cfg.Name, "+ \t\r\n"):
		return nil, errors.New("a witness needs a name without spaces and plus signs")
	case cfg.Key == nil || cfg.Key.Purpose() != keys.Witnesses:
		return nil, errors.New("a witness needs a key for witnesses")
	case cfg.Logs.Empty():
		return nil, errors.New("a witness needs the key of a log")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the witness's store: %w", err)
	}
	lock, err := filelock.Take(filepath.Join(cfg.Dir, lockName))
	if errors.Is(err, filelock.ErrTaken) {
		return nil, ErrOwned
	}
	if err != nil {
		return nil, fmt.Errorf("open the witness's store: %w", err)
	}
	w := &Witness{cfg: cfg, mux: http.NewServeMux(), lock: lock}
	w.mux.HandleFunc("POST /add-checkpoint", w.add)
	w.mux.HandleFunc("GET /latest/{log}", w.latest)
	return w, nil
}

// lockName is the file whose lock a witness holds.
const lockName = "lock"

// Close lets another witness have the directory. Nothing is signed afterwards.
func (w *Witness) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lock.Free()
}

// ServeHTTP implements http.Handler.
func (w *Witness) ServeHTTP(out http.ResponseWriter, r *http.Request) { w.mux.ServeHTTP(out, r) }

// LogID names a log in the address of its latest checkpoint.
func LogID(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}

// refusal is an answer other than 200.
type refusal struct {
	status int
	text   string
	size   int64 // for a conflict: the size that the witness has; else -1
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, text string) error { return &refusal{status, text, -1} }

func (w *Witness) add(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxRequest))
	if err != nil {
		http.Error(out, "the request is too long, or was cut off", http.StatusBadRequest)
		return
	}
	line, err := w.Add(body)
	var no *refusal
	switch {
	case err == nil:
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = out.Write(line) // whoever has gone may ask again
	case errors.As(err, &no) && no.size >= 0:
		out.Header().Set("Content-Type", sizeType)
		out.WriteHeader(no.status)
		_, _ = io.WriteString(out, strconv.FormatInt(no.size, 10)+"\n")
	case errors.As(err, &no):
		http.Error(out, no.text, no.status)
	default:
		w.cfg.Log.Error("a checkpoint could not be kept", "error", err)
		http.Error(out, "the witness cannot write; nothing was signed", http.StatusInternalServerError)
	}
}

// Add checks one request, keeps its checkpoint and returns the signature.
func (w *Witness) Add(body []byte) ([]byte, error) {
	q, err := parseRequest(body)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, err.Error())
	}
	claimed, err := audit.ReadUntrusted(q.signed)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, err.Error())
	}
	if !w.cfg.Logs.Knows(claimed.Origin) {
		return nil, refuse(http.StatusNotFound, "this witness does not know the log")
	}
	c, err := w.cfg.Logs.Open(q.signed)
	if err != nil || !c.ByLog {
		return nil, refuse(http.StatusForbidden, "no key of the log has signed the checkpoint")
	}
	if q.old > c.Size {
		return nil, refuse(http.StatusBadRequest, "the old size is larger than the checkpoint's")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.goOn(q, c)
}

// goOn compares with what the witness has, writes, and only then signs. mu is
// held.
func (w *Witness) goOn(q request, c audit.Opened) ([]byte, error) {
	if !w.lock.Held() {
		return nil, errUnowned
	}
	had, err := w.read(c.Origin)
	if err != nil {
		return nil, err
	}
	if q.old != had.Size || c.Size == had.Size && c.Root != had.Root {
		return nil, &refusal{http.StatusConflict, "the witness has another checkpoint", had.Size}
	}
	if err := proved(q, had.Head, c.Head); err != nil {
		return nil, refuse(http.StatusUnprocessableEntity, err.Error())
	}
	line, err := c.Cosign(w.cfg.Name, w.cfg.Now(), w.cfg.Key)
	if err != nil {
		return nil, err
	}
	if err := w.write(c.Origin, audit.Joined(q.signed, line)); err != nil {
		return nil, err
	}
	return line, nil
}

// proved: from the empty log everything goes on, without a proof.
func proved(q request, had, now audit.Head) error {
	if had.Size == 0 {
		if len(q.proof) > 0 {
			return audit.ErrProof
		}
		return nil
	}
	return audit.CheckConsistency(now, had, q.proof)
}

func (w *Witness) path(origin string) string { return filepath.Join(w.cfg.Dir, LogID(origin)) }

// read returns the latest checkpoint of a log; the empty one if there is none.
// What this witness has not signed itself is an error, never a new beginning.
func (w *Witness) read(origin string) (audit.Checkpoint, error) {
	text, err := os.ReadFile(w.path(origin))
	if errors.Is(err, fs.ErrNotExist) {
		return audit.Checkpoint{Origin: origin, Head: audit.EmptyHead()}, nil
	}
	if err != nil {
		return audit.Checkpoint{}, err
	}
	own, err := audit.NewTrust(audit.WitnessKey(w.cfg.Name, w.cfg.Key.Public()[0]))
	if err != nil {
		return audit.Checkpoint{}, err
	}
	o, err := own.Open(text)
	if err != nil || o.Origin != origin {
		return audit.Checkpoint{}, fmt.Errorf("%s is not what this witness wrote: %w", w.path(origin), errors.Join(err, audit.ErrFork))
	}
	return o.Checkpoint, nil
}

// write puts a checkpoint in the place of the one before, whole or not at all,
// and returns when it is on the disk.
func (w *Witness) write(origin string, signed []byte) error {
	draft := w.path(origin) + ".draft"
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(signed)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft, w.path(origin)); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // its file system journals names
		return nil
	}
	d, err := os.Open(w.cfg.Dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// latest answers with the newest checkpoint of a log, as this witness signed
// it. It is for whoever checks the log.
func (w *Witness) latest(out http.ResponseWriter, r *http.Request) {
	id := r.PathValue("log")
	if b, err := hex.DecodeString(id); err != nil || len(b) != sha256.Size || hex.EncodeToString(b) != id {
		http.Error(out, "the log is named by the SHA-256 of its origin", http.StatusNotFound)
		return
	}
	text, err := os.ReadFile(filepath.Join(w.cfg.Dir, id))
	if err != nil {
		http.Error(out, "this witness has no checkpoint of the log", http.StatusNotFound)
		return
	}
	out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = out.Write(text)
}

// request is the body of add-checkpoint.
type request struct {
	old    int64
	proof  []canon.Digest
	signed []byte
}

var errRequest = errors.New("expected: old SIZE, the lines of a proof, an empty line and a checkpoint")

func parseRequest(body []byte) (q request, err error) {
	head, signed, found := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	size, isOld := strings.CutPrefix(lines[0], "old ")
	if !found || !isOld || len(lines)-1 > maxProof {
		return q, errRequest
	}
	if q.old, err = strconv.ParseInt(size, 10, 64); err != nil || q.old < 0 || strconv.FormatInt(q.old, 10) != size {
		return q, errRequest
	}
	for _, line := range lines[1:] {
		h, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(h) != len(canon.Digest{}) {
			return q, errRequest
		}
		q.proof = append(q.proof, canon.Digest(h))
	}
	q.signed = signed
	return q, nil
}

func (q request) body() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", q.old)
	for _, h := range q.proof {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
	b.WriteByte('\n')
	b.Write(q.signed)
	return b.Bytes()
}
