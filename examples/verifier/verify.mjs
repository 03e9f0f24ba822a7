// An independent checker of what Verbatim's log hands out: receipts, bundles
// and exported logs. It is written from docs/spec/log.md and
// docs/spec/proposal-hash.md alone and uses the standard library of Node only.
//
//   node verify.mjs --key KEYS [--checkpoint FILE]... FILE... | DIRECTORY
//
// It prints one JSON document. Exit code 0: everything holds; 1: something
// does not; 2: the command line is wrong.

import { createHmac, createPublicKey, hash, verify as verifySignature } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const sha256 = (...parts) => hash("sha256", Buffer.concat(parts.map((p) => Buffer.from(p))), "buffer");

class Refused extends Error {}
const refuse = (why) => { throw new Refused(why); };

// ---- strict text -----------------------------------------------------------

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes) {
  try { return utf8.decode(bytes); } catch { return refuse("it is not UTF-8"); }
}

// canonical is the RFC 8785 form. JSON.stringify writes strings and numbers as
// RFC 8785 does; names are sorted by UTF-16 code units, as sort() does.
function canonical(v) {
  if (v === null || typeof v === "boolean") return String(v);
  if (typeof v === "string") return v.isWellFormed() ? JSON.stringify(v) : refuse("a text has half a character");
  if (typeof v === "number") return Number.isFinite(v) ? JSON.stringify(v) : refuse("a number is none");
  if (Array.isArray(v)) return "[" + v.map(canonical).join(",") + "]";
  return "{" + Object.keys(v).sort().map((k) => canonical(k) + ":" + canonical(v[k])).join(",") + "}";
}

// parseCanonical reads a text that must be its own RFC 8785 form. So a member
// that stands twice, a space, or any other spelling is refused.
function parseCanonical(text) {
  let v;
  try { v = JSON.parse(text); } catch { refuse("it is no JSON"); }
  if (canonical(v) !== text) refuse("it is not in its RFC 8785 form");
  return v;
}

const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const isText = (v) => typeof v === "string";

function members(v, required, optional = []) {
  if (!isObject(v)) refuse("an object is missing");
  const names = Object.keys(v);
  for (const n of required) if (!names.includes(n)) refuse("the member " + n + " is missing");
  for (const n of names) if (!required.includes(n) && !optional.includes(n)) refuse("it has an unknown member");
}

function base64(text) {
  if (!isText(text)) refuse("base64 is missing");
  const b = Buffer.from(text, "base64");
  return b.toString("base64") === text ? b : refuse("base64 has stray bits");
}

function equal(a, b) { return a.length === b.length && a.equals(b); }

// ---- keys and signed notes -------------------------------------------------

const ALG_ED25519 = 1;
const ALG_COSIGNATURE = 4;
const SPKI_ED25519 = Buffer.from("302a300506032b6570032100", "hex");

export function ed25519(key, message, signature) {
  if (signature.length !== 64) return false;
  const spki = createPublicKey({ key: Buffer.concat([SPKI_ED25519, key]), format: "der", type: "spki" });
  return verifySignature(null, message, spki, signature);
}

// parseKeys reads public keys, one a line: name+hash+key.
export function parseKeys(text) {
  const keys = [];
  for (const line of text.split("\n").map((l) => l.trim()).filter((l) => l !== "")) {
    const [name, hash, ...rest] = line.split("+");
    const typed = base64(rest.join("+"));
    if (name === "" || typed.length !== 33 || (typed[0] !== ALG_ED25519 && typed[0] !== ALG_COSIGNATURE)) refuse("a key is not name+hash+key");
    const want = sha256(name + "\n", typed).subarray(0, 4);
    if (hash !== want.toString("hex")) refuse("a key has another hash");
    keys.push({ name, hash: want, alg: typed[0], key: typed.subarray(1) });
  }
  return keys;
}

const withName = (keys, name) => keys.filter((k) => k.alg === ALG_ED25519 && k.name === name).map((k) => k.key);

// openCheckpoint returns origin, size and root, and who signed.
export function openCheckpoint(bytes, keys) {
  if (bytes.length > 16384) refuse("the checkpoint is too long");
  const note = textOf(bytes);
  const cut = note.lastIndexOf("\n\n");
  if (cut < 0) refuse("the checkpoint has no signature");
  const text = note.slice(0, cut + 1);
  const tail = note.slice(cut + 2);
  if (!tail.endsWith("\n")) refuse("the checkpoint does not end with a line");
  const signed = { log: false, witnesses: {} };
  const lines = text.split("\n");
  for (const line of tail.slice(0, -1).split("\n")) {
    const m = /^\u2014 (\S+) (\S+)$/u.exec(line);
    if (!m) refuse("a signature of the checkpoint has another form");
    const sig = base64(m[2]);
    for (const k of keys.filter((k) => k.name === m[1] && equal(k.hash, sig.subarray(0, 4)))) {
      const rest = sig.subarray(4);
      if (k.alg === ALG_ED25519) {
        if (!ed25519(k.key, text, rest)) refuse("a signature of the checkpoint does not hold");
        if (k.name === lines[0]) signed.log = true;
      } else {
        if (rest.length !== 72) refuse("a signature of a witness has another form");
        const at = rest.readBigUInt64BE(0);
        if (!ed25519(k.key, "cosignature/v1\ntime " + at + "\n" + text, rest.subarray(8))) refuse("a signature of a witness does not hold");
        signed.witnesses[k.name] = Number(at);
      }
    }
  }
  if (!signed.log && Object.keys(signed.witnesses).length === 0) refuse("no trusted key has signed the checkpoint");
  if (lines.length !== 4 || lines[0] === "" || !/^(0|[1-9][0-9]{0,15})$/.test(lines[1])) refuse("the checkpoint is not origin, size and root");
  const root = base64(lines[2]);
  if (root.length !== 32) refuse("the checkpoint has no root");
  const c = { origin: lines[0], size: Number(lines[1]), root, signed };
  if (c.size === 0 && !equal(root, sha256())) refuse("the empty log has another root");
  return c;
}

// ---- leaves and the tree ---------------------------------------------------

const TEXTS = ["id", "tenant", "event", "action", "tool", "agent", "by", "from", "to", "code"];

export function parseLeaf(text) {
  if (Buffer.byteLength(text) > 4096) refuse("a leaf is too long");
  const leaf = parseCanonical(text);
  members(leaf, ["v", "seq", "at", "event"], [...TEXTS, "facts", "commitments"]);
  if (leaf.v !== 1 || !Number.isSafeInteger(leaf.seq)) refuse("a leaf has another version or no number");
  for (const n of TEXTS) if (n in leaf && (!isText(leaf[n]) || leaf[n] === "")) refuse("a leaf has an empty member");
  for (const n of ["facts", "commitments"]) {
    if (!(n in leaf)) continue;
    if (!isObject(leaf[n]) || Object.keys(leaf[n]).length === 0 || !Object.values(leaf[n]).every(isText)) refuse("a leaf has a member that is no object of texts");
  }
  const at = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{0,8}[1-9])?Z$/.exec(isText(leaf.at) ? leaf.at : "");
  if (!at || new Date(at[1] + "Z").toISOString() !== at[1] + ".000Z") refuse("a leaf has no time");
  return leaf;
}

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

export const leafHash = (bytes) => sha256(LEAF, bytes);
export const nodeHash = (left, right) => hash("sha256", Buffer.concat([NODE, left, right], 65), "buffer");

// Tree computes a root from the left (RFC 6962 2.1).
export class Tree {
  constructor(size = 0, peaks = []) { this.size = size; this.peaks = peaks.slice(); }
  clone() { return new Tree(this.size, this.peaks); }
  add(hash) {
    for (let n = this.size; n % 2 === 1; n = (n - 1) / 2) hash = nodeHash(this.peaks.pop(), hash);
    this.peaks.push(hash);
    this.size++;
  }
  root() {
    if (this.size === 0) return sha256();
    return this.peaks.reduceRight((right, left) => nodeHash(left, right));
  }
}

// included checks an inclusion proof (RFC 6962 2.1.1).
export function included(c, index, hash, proof) {
  if (!Number.isSafeInteger(index) || index < 0 || index >= c.size) return false;
  let node = index;
  let last = c.size - 1;
  let at = hash;
  for (const sibling of proof) {
    if (last === 0 || sibling.length !== 32) return false;
    if (node % 2 === 1 || node === last) {
      at = nodeHash(sibling, at);
      while (node % 2 === 0 && node !== 0) { node /= 2; last = Math.floor(last / 2); }
    } else {
      at = nodeHash(at, sibling);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && equal(at, c.root);
}

// recordDigest is the digest of a leaf with 0 in the place of its number.
const recordDigest = (leaf) => sha256(canonical({ ...leaf, seq: 0 })).toString("hex");

// ---- envelopes, receipts, votes --------------------------------------------

function openEnvelope(text) {
  const e = parseCanonical(text);
  members(e, ["payload", "payloadType", "signatures"]);
  if (!isText(e.payloadType) || !Array.isArray(e.signatures) || e.signatures.length !== 1) refuse("an envelope has another form");
  members(e.signatures[0], ["keyid", "sig"]);
  const payload = base64(e.payload);
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(e.payloadType)} ${e.payloadType} ${payload.length} `), payload]);
  return { type: e.payloadType, payload, signed, keyid: e.signatures[0].keyid, sig: base64(e.signatures[0].sig) };
}

// signedBy requires that one of the keys signed an envelope and names itself.
function signedBy(e, type, keys) {
  if (e.type !== type) refuse("an envelope holds another type of payload");
  for (const k of keys) {
    if (ed25519(k, e.signed, e.sig)) return sha256(k).subarray(0, 8).toString("hex") === e.keyid || refuse("an envelope names another key");
  }
  return refuse("no trusted key has signed the envelope");
}

export function openReceipt(text, keys) {
  const e = openEnvelope(text);
  const r = parseCanonical(textOf(e.payload));
  members(r, ["v", "log", "action", "record", "digest", "event", "state", "at", "kept", "claim"]);
  if (r.v !== 1 || !["synced", "written"].includes(r.kept)) refuse("it is no receipt");
  signedBy(e, "application/vnd.verbatim.receipt.v1+json", withName(keys, r.log + "/receipt"));
  return r;
}

const VOTE = "application/vnd.verbatim.vote.v1+json";

function openVote(text, origin, keys) {
  const e = openEnvelope(text);
  let passkey = null;
  try { passkey = parseCanonical(textOf(e.sig)); } catch { /* it is the server's */ }
  if (isObject(passkey)) {
    openPasskey(e, passkey);
    return { payload: textOf(e.payload), signer: "passkey", trusted: false };
  }
  signedBy(e, VOTE, withName(keys, origin + "/vote"));
  return { payload: textOf(e.payload), signer: "server", trusted: true };
}

// openPasskey checks an assertion over a payload (WebAuthn level 3, 7.2).
function openPasskey(e, p) {
  if (e.type !== VOTE) refuse("an envelope holds another type of payload");
  members(p, ["authenticatorData", "clientDataJSON", "credentialId", "publicKey", "signature"]);
  const data = base64(p.authenticatorData);
  const client = base64(p.clientDataJSON);
  const key = createPublicKey({ key: base64(p.publicKey), format: "der", type: "spki" });
  const algorithm = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  if (!verifySignature(algorithm, Buffer.concat([data, sha256(client)]), key, base64(p.signature))) refuse("a passkey's signature does not hold");
  const c = JSON.parse(textOf(client));
  const origin = new URL(c.origin);
  if (c.type !== "webauthn.get" || c.challenge !== sha256(e.payload).toString("base64url") || c.crossOrigin === true) refuse("a passkey signed something else");
  if (data.length < 37 || !equal(data.subarray(0, 32), sha256(origin.hostname)) || (data[32] & 5) !== 5) refuse("a passkey was used elsewhere, or not by its owner");
}

// ---- bundles ---------------------------------------------------------------

const BUNDLE_CLAIM = "These records are in the log up to the checkpoint. " +
  "This proves neither that the effect happened nor that the log has no other record about it.";

export function openBundle(text, keys) {
  const b = parseCanonical(text);
  members(b, ["v", "claim", "action", "checkpoint", "records", "votes"]);
  if (typeof b.v === "number" && b.v !== 1) refuse("version " + b.v + " of bundles is not known here");
  if (b.v !== 1 || b.claim !== BUNDLE_CLAIM || !isText(b.action) || b.action === "" || !isText(b.checkpoint)) refuse("it is no bundle");
  if (!Array.isArray(b.records) || b.records.length === 0 || !Array.isArray(b.votes)) refuse("the bundle has no record");
  const c = openCheckpoint(Buffer.from(b.checkpoint), keys);
  const steps = [];
  for (const r of b.records) steps.push(step(r, b.action, c, steps.at(-1)));
  const recorded = steps.filter((s) => s.event === "vote_approve" || s.event === "vote_reject");
  if (recorded.length !== b.votes.length) refuse("votes are missing");
  const votes = b.votes.map((text, i) => {
    const v = openVote(text, c.origin, keys);
    const p = parseCanonical(v.payload);
    const s = recorded[i];
    if (sha256(v.payload).toString("hex") !== s.facts?.voteDigest || p.approvalDigest !== s.facts?.approvalDigest ||
        p.voter !== s.by || "vote_" + p.vote !== s.event) refuse("a vote is not the recorded one");
    return v;
  });
  return { action: b.action, log: c.origin, size: c.size, signed: c.signed, steps, votes, claim: b.claim };
}

function step(r, action, c, before) {
  members(r, ["index", "leaf", "proof"], ["salt", "opened"]);
  if (!isText(r.leaf) || !Array.isArray(r.proof) || ("salt" in r) !== ("opened" in r)) refuse("a record has another form");
  const leaf = parseLeaf(r.leaf);
  if (leaf.seq !== r.index + 1 || leaf.action !== action) refuse("a record is of another number or action");
  if (!included(c, r.index, leafHash(r.leaf), r.proof.map(base64))) refuse("record " + leaf.seq + " is not in the log");
  if (before && leaf.seq <= before.seq) refuse("the records are not in order");
  if ((leaf.from ?? "") !== (before ? before.to ?? "" : "received")) refuse("a record before record " + leaf.seq + " is missing");
  const opened = openAll(r, leaf);
  return { ...leaf, digest: recordDigest(leaf), opened };
}

function openAll(r, leaf) {
  if (!("salt" in r)) return {};
  const salt = base64(r.salt);
  if (salt.length !== 32 || !isObject(r.opened) || Object.keys(r.opened).length === 0) refuse("a record shows nothing");
  const opened = {};
  for (const [name, value] of Object.entries(r.opened)) {
    const bytes = base64(value);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(Buffer.byteLength(name));
    const want = createHmac("sha256", salt).update(size).update(name).update(bytes).digest("hex");
    if (!isObject(leaf.commitments) || !Object.hasOwn(leaf.commitments, name) || leaf.commitments[name] !== want) refuse("what is shown as " + name + " is not what was committed to");
    opened[name] = bytes.toString("latin1");
  }
  if ("arguments" in opened && "proposalHash" in opened) checkProposal(leaf, base64(r.opened.arguments), opened.proposalHash);
  return Object.fromEntries(Object.keys(opened).map((n) => [n, base64(r.opened[n]).toString()]));
}

function checkProposal(leaf, args, hash) {
  const agent = leaf.agent ?? "";
  const tool = leaf.tool ?? "";
  if (agent.startsWith("sha256:") || tool.startsWith("sha256:")) return;
  const proposal = leaf.facts?.kind === "handoff"
    ? { fromAgentName: agent, kind: "handoff", payloadCanonicalJson: textOf(args), toAgentName: tool }
    : { agentName: agent, argsCanonicalJson: textOf(args), kind: "tool", toolName: tool };
  if (sha256(canonical(proposal)).toString("hex") !== hash) refuse("the arguments do not hash to the proposal hash");
}

// holds reports whether a bundle has the record that a receipt promised.
export const holds = (b, r) => b.log === r.log && b.action === r.action &&
  b.steps.some((s) => s.digest === r.digest && s.id === r.record && s.event === r.event && (s.to ?? "") === r.state);

// ---- whole logs ------------------------------------------------------------

// verifyLeaves checks leaves against checkpoints of one origin: the log's own
// first, then those from elsewhere. It returns the size up to which the log is
// complete, 0 where no checkpoint from elsewhere says so.
export function verifyLeaves(leaves, own, outside) {
  const roots = new Map([own, ...outside].map((c) => [c.size, null]));
  const tree = new Tree();
  const note = () => { if (roots.has(tree.size)) roots.set(tree.size, tree.root()); };
  note();
  for (const bytes of leaves) {
    const leaf = parseLeaf(textOf(bytes));
    if (leaf.seq !== tree.size + 1) refuse("record " + (tree.size + 1) + " says that it is number " + leaf.seq);
    tree.add(leafHash(bytes));
    note();
  }
  if (tree.size !== own.size) refuse("the log has " + tree.size + " records, its checkpoint " + own.size);
  if (tree.size === 0) refuse("the log is empty, so nothing is verified");
  for (const c of [own, ...outside]) {
    if (c.origin !== own.origin) refuse("a checkpoint is of another log");
    const root = roots.get(c.size);
    if (root === null || !equal(root, c.root)) refuse("the log is not the one of the checkpoint of " + c.size + " records");
  }
  return Math.max(0, ...outside.map((c) => c.size));
}

const tileName = (n) => {
  let out = String(n % 1000).padStart(3, "0");
  for (n = Math.floor(n / 1000); n > 0; n = Math.floor(n / 1000)) out = "x" + String(n % 1000).padStart(3, "0") + "/" + out;
  return out;
};

// readExported reads the leaves of a directory in the form of C2SP tlog-tiles,
// one file at a time.
export function* readExported(dir, size) {
  for (let n = 0; n * 256 < size; n++) {
    const width = Math.min(256, size - n * 256);
    const file = readFileSync(join(dir, "tile/entries", tileName(n) + (width < 256 ? ".p/" + width : "")));
    let at = 0;
    for (let i = 0; i < width; i++) {
      if (at + 2 > file.length) refuse("a bundle of entries is cut off");
      const end = at + 2 + file.readUInt16BE(at);
      if (end > file.length) refuse("a bundle of entries is cut off");
      yield file.subarray(at + 2, end);
      at = end;
    }
    if (at !== file.length) refuse("a bundle of entries has more than its entries");
  }
}

function verifyDirectory(dir, keys, checkpoints) {
  const own = openCheckpoint(readFileSync(join(dir, "checkpoint")), keys);
  const outside = checkpoints.map((path) => openCheckpoint(readFileSync(path), keys));
  return { log: own.origin, records: own.size, completeTo: verifyLeaves(readExported(dir, own.size), own, outside) };
}

function verifyFiles(paths, keys) {
  const out = { receipts: [], bundles: [] };
  for (const path of paths) {
    const text = textOf(readFileSync(path)).replace(/\n$/, "");
    if (text.includes('"payloadType"') && text.startsWith('{"payload":')) out.receipts.push(openReceipt(text, keys));
    else out.bundles.push(openBundle(text, keys));
  }
  for (const r of out.receipts) {
    const of = out.bundles.filter((b) => b.log === r.log && b.action === r.action);
    r.inLog = of.length > 0;
    if (!of.every((b) => holds(b, r))) refuse("the bundle of an action does not hold what its receipt promises");
  }
  return out;
}

// ---- command line ----------------------------------------------------------

function main(args) {
  const keys = [];
  const checkpoints = [];
  const paths = [];
  for (let i = 0; i < args.length; i++) {
    if (args[i] === "--key" && i + 1 < args.length) keys.push(...parseKeys(readFileSync(args[++i], "utf8")));
    else if (args[i] === "--checkpoint" && i + 1 < args.length) checkpoints.push(args[++i]);
    else paths.push(args[i]);
  }
  if (keys.length === 0 || paths.length === 0) {
    console.error("usage: node verify.mjs --key KEYS [--checkpoint FILE]... FILE... | DIRECTORY");
    return 2;
  }
  try {
    const directory = paths.length === 1 && statSync(paths[0]).isDirectory();
    console.log(JSON.stringify(directory ? verifyDirectory(paths[0], keys, checkpoints) : verifyFiles(paths, keys), null, 2));
    return 0;
  } catch (e) {
    console.log(JSON.stringify({ refused: e instanceof Refused ? e.message : String(e) }));
    return 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.exitCode = main(process.argv.slice(2));
