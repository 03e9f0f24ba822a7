package snapshot

import "github.com/seed-de4804fb/verbatim/canon"

// Target is the canonical thing that a call acts on.
type Target struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Evidence says who answered for one resolved member, so that the answer can
// be asked for again and compared.
type Evidence struct {
	Pointer  string       `json:"pointer"`  // where the answer stands in the parsed arguments
	Resolver string       `json:"resolver"` // name in the catalog
	Version  string       `json:"version"`  // of the table, list or function that answered
	Digest   canon.Digest `json:"digest"`   // of the canonical answer
}

// ProposalHash identifies one proposal (RFC-0016; semantics §6).
type ProposalHash [32]byte

// String returns lowercase hex.
func (h ProposalHash) String() string { return canon.Digest(h).String() }

// Proposal is one frozen tool call: who proposes, which tool, which bytes.
type Proposal struct {
	AgentName string
	ToolName  string // catalog name, server.tool
	Args      Snapshot
	Hash      ProposalHash
	Targets   []Target
	Evidence  []Evidence
	Changes   []canon.Change
}

// Propose names a frozen snapshot and computes its proposal hash: lowercase
// hex SHA-256 of the RFC 8785 form of agentName, argsCanonicalJson, kind and
// toolName.
func Propose(agentName, toolName string, args Snapshot) Proposal {
	return Proposal{AgentName: agentName, ToolName: toolName, Args: args,
		Hash: hashJoined(`{"agentName":`, agentName, `,"argsCanonicalJson":`, args, `,"kind":"tool","toolName":`, toolName)}
}

// Handoff is one frozen transfer of control between agents.
type Handoff struct {
	FromAgentName string
	ToAgentName   string
	Payload       Snapshot
	Hash          ProposalHash
}

// ProposeHandoff names a frozen payload and computes its proposal hash.
func ProposeHandoff(from, to string, payload Snapshot) Handoff {
	return Handoff{FromAgentName: from, ToAgentName: to, Payload: payload,
		Hash: hashJoined(`{"fromAgentName":`, from, `,"kind":"handoff","payloadCanonicalJson":`, payload, `,"toAgentName":`, to)}
}

// hashJoined hashes the RFC 8785 form of an object with three strings, of which
// the second is frozen text. Before each stands the text that leads to it: names
// are in their order (RFC 8785 §3.2.3).
func hashJoined(lead1, text1, lead2 string, args Snapshot, lead3, text3 string) ProposalHash {
	b := borrow()
	text := append(b.text, lead1...)
	text = canon.AppendText(text, text1)
	text = append(text, lead2...)
	text = canon.AppendQuoted(text, args.text)
	text = append(text, lead3...)
	text = canon.AppendText(text, text3)
	b.text = append(text, '}')
	sum := canon.Sum(b.text)
	b.giveBack()
	return ProposalHash(sum)
}
