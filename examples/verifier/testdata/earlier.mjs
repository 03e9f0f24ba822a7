// Makes earlier.bundle and earlier.keys, from docs/spec alone: a bundle as it
// was written before records committed to `evidence` and `facts`, and before
// the reason of a vote was signed. Its keys are made of words, so that
// everybody can make the same files again:
//
//   node earlier.mjs DIRECTORY

import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const sha256 = (...parts) => parts.reduce((h, p) => h.update(p), createHash("sha256")).digest();
const hex = (...parts) => sha256(...parts).toString("hex");

// jcs is RFC 8785 for what stands here: names in ASCII, whole numbers.
function jcs(v) {
  if (Array.isArray(v)) return "[" + v.map(jcs).join(",") + "]";
  if (typeof v !== "object") return JSON.stringify(v);
  return "{" + Object.keys(v).sort().map((k) => JSON.stringify(k) + ":" + jcs(v[k])).join(",") + "}";
}

function keyOf(words) {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), sha256(words)]);
  const secret = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return { secret, bytes: createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(-32) };
}

const origin = "verbatim.invalid/log/earlier";
const logKey = keyOf("the key of an earlier log");
const voteKey = keyOf("the key of its votes");
const keyHash = (name, key) => sha256(name, "\n", Buffer.from([1]), key.bytes).subarray(0, 4);
const pinned = (name, key) => name + "+" + keyHash(name, key).toString("hex") + "+" + Buffer.concat([Buffer.from([1]), key.bytes]).toString("base64");

// ---- the vote, of before reasons were signed ---------------------------------

const approvalDigest = hex("what was approved");
const payload = jcs({ approvalDigest, nonce: hex("a nonce"), v: 1, vote: "approve", voter: "ada" });
const voteType = "application/vnd.verbatim.vote.v1+json";
const envelope = jcs({
  payload: Buffer.from(payload).toString("base64"), payloadType: voteType,
  signatures: [{
    keyid: hex(voteKey.bytes).slice(0, 16),
    sig: sign(null, Buffer.from(`DSSEv1 ${voteType.length} ${voteType} ${payload.length} ${payload}`), voteKey.secret).toString("base64"),
  }],
});

// ---- the leaves --------------------------------------------------------------

const action = "act_earlier";
const args = jcs({ amount: 840000, to: "VENDOR-001" });
const proposalHash = hex(jcs({ agentName: "Support Agent", argsCanonicalJson: args, kind: "tool", toolName: "bank.pay" }));
const policyVersion = "4c94485e0c21ae6c.1";

const steps = [
  { event: "action_suspended", by: "maria", from: "received", to: "pending_approval", code: "approval_required",
    facts: { approvalDigest, definition: hex("a tool"), effect: "require_approval", highImpact: "true", kind: "call", mutation: "true",
      owner: "maria", policyVersion, resolvers: '["/to vendors 3"]' },
    shows: { raw: '{"to":"ACME Ltd","amount":840000}', requested: jcs({ amount: 840000, to: "ACME Ltd" }), arguments: args, proposalHash,
      reason: "payments need a yes", targets: jcs([{ id: "VENDOR-001", type: "vendor" }]) } },
  { event: "vote_approve", by: "ada", from: "pending_approval", to: "pending_approval", code: "approval_required",
    facts: { approvalDigest, method: "password", voteDigest: hex(payload) }, shows: { envelope, reason: "the invoice is here" } },
  { event: "action_approved", by: "ada", from: "pending_approval", to: "approved", code: "approval_required", facts: { approvalDigest, policyVersion } },
  { event: "action_claimed", by: "maria", from: "approved", to: "claimed", code: "approval_required", facts: { fence: "1" } },
  { event: "action_started", by: "maria", from: "claimed", to: "executing", code: "approval_required",
    facts: { approvalDigest, attempt: "1", fence: "1", leaseUntil: "2026-01-02T03:05:20Z", policyVersion } },
  { event: "action_succeeded", by: "maria", from: "executing", to: "succeeded", code: "ok",
    facts: { attempt: "1", comparison: "equal", fence: "1", isError: "false" }, shows: { result: '{"paid":true}' } },
];

function commit(salt, name, value) {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(Buffer.byteLength(name));
  return createHmac("sha256", salt).update(size).update(name).update(value).digest("hex");
}

const leaves = [{ event: "policy_changed", tenant: "acme", tool: "bank.pay", facts: { digest: hex("rules"), epoch: "1" } }, ...steps,
  { event: "account_added", tenant: "acme", by: "host", facts: { account: "ada" } }].map((s, i) => {
  const salt = sha256("salt " + i);
  const { shows, ...rest } = s;
  const leaf = { v: 1, seq: i + 1, at: "2026-01-02T03:04:05Z", id: "rec_" + i, tenant: "acme", ...rest };
  if (steps.includes(s)) Object.assign(leaf, { action, tool: "bank.pay", agent: "Support Agent" });
  if (shows) leaf.commitments = Object.fromEntries(Object.entries(shows).map(([name, value]) => [name, commit(salt, name, value)]));
  return { leaf: jcs(leaf), salt, shows, mine: steps.includes(s) };
});

// ---- the tree, its checkpoint and the bundle -----------------------------------

const hashes = leaves.map((l) => sha256(Buffer.from([0]), l.leaf));
const split = (n) => { let k = 1; while (k * 2 < n) k *= 2; return k; };
const rootOf = (h) => h.length === 1 ? h[0] : sha256(Buffer.from([1]), rootOf(h.slice(0, split(h.length))), rootOf(h.slice(split(h.length))));

// proof is PATH(m, D[n]) of RFC 6962 2.1.1.
function proof(m, h) {
  if (h.length === 1) return [];
  const k = split(h.length);
  return m < k ? [...proof(m, h.slice(0, k)), rootOf(h.slice(k))] : [...proof(m - k, h.slice(k)), rootOf(h.slice(0, k))];
}

const text = `${origin}\n${leaves.length}\n${rootOf(hashes).toString("base64")}\n`;
const signature = Buffer.concat([keyHash(origin, logKey), sign(null, Buffer.from(text), logKey.secret)]).toString("base64");
const base64 = (s) => Buffer.from(s).toString("base64");
const bundle = {
  v: 1,
  claim: "These records are in the log up to the checkpoint. This proves neither that the effect happened nor that the log has no other record about it.",
  action, checkpoint: `${text}\n\u2014 ${origin} ${signature}\n`, votes: [envelope],
  records: leaves.flatMap((l, index) => !l.mine ? [] : [{ index, leaf: l.leaf, proof: proof(index, hashes).map((h) => h.toString("base64")),
    ...(l.shows ? { salt: l.salt.toString("base64"), opened: Object.fromEntries(Object.entries(l.shows).map(([k, v]) => [k, base64(v)])) } : {}) }]),
};

const dir = process.argv[2];
writeFileSync(join(dir, "earlier.bundle"), jcs(bundle));
writeFileSync(join(dir, "earlier.keys"), pinned(origin, logKey) + "\n" + pinned(origin + "/vote", voteKey) + "\n");
console.log("[]"); // it has nothing to say
