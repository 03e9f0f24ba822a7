package main

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/action"
	"github.com/seed-de4804fb/verbatim/approval"
	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
)

// maxVoteFile bounds a file of votes or of public keys, in bytes.
const maxVoteFile = 1 << 20

func approvalsExport(s streams) *cobra.Command {
	var to string
	var public bool
	c := &cobra.Command{
		Use:   "export ACTION",
		Short: "Write the signed votes of an action, for approvals verify",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := connect(cmd.Context(), s)
			if err != nil {
				return err
			}
			found, err := client.SignedVotes(cmd.Context(), args[0])
			if err != nil {
				return refusedInput(err)
			}
			if len(found.Votes) == 0 {
				return &exitError{code: exitDenied, text: "nobody has voted on the action"}
			}
			var text strings.Builder
			for _, v := range found.Votes {
				if public && !strings.Contains(text.String(), v.PublicKey) {
					text.WriteString(v.PublicKey)
				}
				if !public {
					text.WriteString(v.Envelope + "\n")
				}
			}
			return writeNew(s.out, to, text.String())
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "a new file; standard output without it")
	c.Flags().BoolVar(&public, "public-keys", false, "write the public keys of those votes instead; compare them by another way")
	return c
}

// writeNew writes to a file that must not exist yet, or to out.
func writeNew(out io.Writer, path, text string) error {
	if path == "" {
		_, err := io.WriteString(out, text)
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

func approvalsVerify(s streams) *cobra.Command {
	var keyFiles []string
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check exported votes, without the daemon and its store",
		Long: "Check exported votes, or a standing grant with its signatures, without the daemon and its store. Exit code 0 says that every vote of the file is an approval\n" +
			"of one approval digest, signed by a key of --key. A rejection, a key that is only claimed and whatever does not hold end with 3.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pinned, err := publicKeys(keyFiles)
			if err != nil {
				return err
			}
			text, err := readBounded(args[0])
			if err != nil {
				return err
			}
			grant, votes, err := checkSigned(text, pinned)
			if err != nil {
				return &exitError{code: exitDenied, text: err.Error(), err: err}
			}
			if grant != nil && !wantsJSON(cmd) {
				if err := printStatement(s.out, *grant); err != nil {
					return err
				}
			}
			return sayVotes(cmd, s, votes)
		},
	}
	c.Flags().StringArrayVar(&keyFiles, "key", nil, "PEM file of the public keys that you trust; may come again")
	return c
}

func readBounded(path string) ([]byte, error) { return readUpTo(path, maxVoteFile) }

func readUpTo(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: larger than %d bytes", path, most)
	}
	return text, err
}

// publicKeys reads PEM files of one or more public keys each.
func publicKeys(paths []string) ([]any, error) {
	var out []any
	for _, path := range paths {
		text, err := readBounded(path)
		if err != nil {
			return nil, err
		}
		const end = "-----END PUBLIC KEY-----"
		for rest := bytes.TrimSpace(text); ; {
			block, after, more := bytes.Cut(rest, []byte(end))
			key, err := keys.ParsePublicPEM(append(bytes.TrimSpace(block), "\n"+end+"\n"...))
			if err != nil || !more {
				return nil, usage(path + ": expected PEM blocks PUBLIC KEY and nothing else")
			}
			out = append(out, key)
			if rest = bytes.TrimSpace(after); len(rest) == 0 {
				break
			}
		}
	}
	return out, nil
}

// checkSigned verifies a file of votes, or of a standing grant and its votes.
func checkSigned(text []byte, pinned []any) (*action.StandingGrant, []checkedVote, error) {
	grant, text, err := statement(text)
	if err != nil {
		return nil, nil, err
	}
	votes, err := checkVotes(text, pinned)
	if err == nil && grant != nil && votes[0].Digest != grant.Digest.String() {
		err = errors.New("the signatures are of something else than the statement")
	}
	return grant, votes, err
}

// checkedVote is a vote whose signature holds.
type checkedVote struct {
	Voter   string `json:"voter"`
	Vote    string `json:"vote"`
	Digest  string `json:"approvalDigest"`
	Method  string `json:"method"`
	Site    string `json:"site,omitempty"`
	Reason  string `json:"reason,omitempty"` // signed with the vote
	Trusted bool   `json:"trusted"`          // false: the key is only claimed
}

// checkVotes verifies a file of envelopes, one canonical one a line. Every
// byte counts: what is not the form that export writes is refused. The votes
// must be of different people on one approval digest.
func checkVotes(text []byte, pinned []any) ([]checkedVote, error) {
	lines := strings.SplitAfter(string(text), "\n")
	if len(lines) < 2 || lines[len(lines)-1] != "" {
		return nil, errors.New("the file holds no votes, one a line")
	}
	out := make([]checkedVote, 0, len(lines)-1)
	seen := map[string]bool{}
	for i, line := range lines[:len(lines)-1] {
		v, err := checkVote([]byte(strings.TrimSuffix(line, "\n")), pinned)
		if err == nil && (seen[v.Voter] || i > 0 && v.Digest != out[0].Digest) {
			err = errors.New("somebody votes twice, or on another approval digest")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		seen[v.Voter] = true
		out = append(out, v)
	}
	return out, nil
}

func checkVote(line []byte, pinned []any) (checkedVote, error) {
	envelope, err := keys.ParseEnvelope(line)
	if err != nil {
		return checkedVote{}, err
	}
	if !bytes.Equal(envelope.JSON(), line) {
		return checkedVote{}, keys.ErrEnvelope
	}
	if keys.IsPasskey(envelope) {
		return passkeyVote(envelope, pinned)
	}
	if len(pinned) == 0 {
		return checkedVote{}, errors.New("a server signed it after a password, and such a vote holds no key: name the server's with --key")
	}
	var trusted []ed25519.PublicKey
	for _, key := range pinned {
		if k, ok := key.(ed25519.PublicKey); ok {
			trusted = append(trusted, k)
		}
	}
	payload, _, err := keys.VerifyOnly(envelope, approval.PayloadType, trusted...)
	if err != nil {
		return checkedVote{}, err
	}
	v, err := readVote(payload)
	v.Method, v.Trusted = action.MethodPassword, true
	return v, err
}

// passkeyVote checks a vote with the pinned keys, or with the key that it
// brings where none is pinned.
func passkeyVote(envelope keys.Envelope, pinned []any) (checkedVote, error) {
	claimed, err := keys.ClaimedPasskey(envelope)
	if err != nil {
		return checkedVote{}, err
	}
	var trusted []keys.Passkey
	for _, key := range pinned {
		if p, err := keys.NewPasskey(claimed.CredentialID(), key); err == nil {
			trusted = append(trusted, p)
		}
	}
	if len(pinned) == 0 {
		trusted = []keys.Passkey{claimed}
	}
	payload, proof, err := keys.VerifyPasskey(envelope, approval.PayloadType, trusted...)
	if err != nil {
		return checkedVote{}, err
	}
	v, err := readVote(payload)
	v.Method, v.Site, v.Trusted = action.MethodPasskey, proof.Origin, len(pinned) > 0
	return v, err
}

// readVote reads a payload whose signature holds. Only the exact form that
// approval.VotePayload writes is a vote.
func readVote(payload []byte) (checkedVote, error) {
	bad := errors.New("what was signed is not a vote")
	v, err := canon.Decode(payload, canon.Options{MaxBytes: maxVoteFile, Exact: true, FoldTwins: true})
	if err != nil || v.Kind() != canon.Object {
		return checkedVote{}, bad
	}
	text := func(name string) string {
		member, ok := v.Get(name)
		if !ok || member.Kind() != canon.String {
			return ""
		}
		return member.Text()
	}
	digest, err := canon.ParseDigest(text("approvalDigest"))
	if err != nil || text("voter") == "" || text("nonce") == "" {
		return checkedVote{}, bad
	}
	again := action.Vote{Digest: digest, Voter: text("voter"), Nonce: text("nonce"), Approve: text("vote") == "approve", Reason: text("reason")}
	if !bytes.Equal(approval.VotePayload(again), payload) {
		return checkedVote{}, bad
	}
	return checkedVote{Voter: again.Voter, Vote: text("vote"), Digest: digest.String(), Reason: again.Reason}, nil
}

// sayVotes prints who voted what, and ends with exitDenied unless all of them
// approve, with keys that are trusted.
func sayVotes(cmd *cobra.Command, s streams, votes []checkedVote) error {
	rejected, claimed := false, false
	for _, v := range votes {
		rejected, claimed = rejected || v.Vote != "approve", claimed || !v.Trusted
	}
	if wantsJSON(cmd) {
		if err := printJSON(s.out, map[string]any{"votes": votes, "rejected": rejected, "trusted": !claimed}); err != nil {
			return err
		}
	} else if err := printVotes(s.out, votes); err != nil {
		return err
	}
	if claimed {
		fmt.Fprintln(s.err, "verbatim: the key is only claimed: anybody can make such a file. Name the voter's public key with --key")
	}
	if rejected {
		fmt.Fprintln(s.err, "verbatim: this is a rejection")
	}
	if claimed || rejected {
		return ended(exitDenied)
	}
	return nil
}

func printVotes(w io.Writer, votes []checkedVote) error {
	rows := make([][]string, len(votes))
	for i, v := range votes {
		key := "trusted"
		if !v.Trusted {
			key = "only claimed"
		}
		rows[i] = []string{v.Voter, v.Vote, v.Method, v.Site, key, v.Digest, plain(v.Reason)}
	}
	return table(w, []string{"VOTER", "VOTE", "METHOD", "SITE", "KEY", "APPROVAL", "REASON"}, rows)
}
