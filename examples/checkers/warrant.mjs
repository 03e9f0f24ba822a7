// A checker of warrants for executors that are written in JavaScript. It is
// written from docs/spec/warrant.md alone and uses the standard library of
// Node only.
//
//   import { Checker, fromHeader } from "./warrant.mjs";
//   const checker = new Checker({ audience: "payments.example", keys: [hex] });
//   const { verdict, value } = checker.check(fromHeader(request.headers["verbatim-warrant"]), bodyBytes);
//   if (verdict === "ok") run(value);       // the value that was checked, no other decode
//
//   node warrant.mjs VECTORS                runs the vectors and prints the verdicts

import { createPublicKey, hash, verify as verifySignature } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const TYPE = "application/vnd.verbatim.warrant.v1+json";
const MAX_ENVELOPE = 64 << 10, MAX_ARGUMENTS = 4 << 20, MAX_DEPTH = 64;
const MAX_LIFE = 30_000, EARLIEST = 5_000, KEEP = 60_000, MEMORY = 1 << 16;

const sha256 = (bytes) => hash("sha256", bytes, "hex");

class Refused extends Error {}
const refuse = (why) => { throw new Refused(why); };

// ---- strict JSON -----------------------------------------------------------

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\n\r]*/y;

// parse reads one JSON text that has one reading. Objects are Maps, so that no
// member name is special.
export function parse(bytes, most = MAX_ARGUMENTS) {
  if (bytes.length > most) refuse("it is too long");
  let text;
  try { text = utf8.decode(bytes); } catch { refuse("it is not UTF-8"); }
  let at = 0;
  const take = (re) => {
    re.lastIndex = at;
    const found = re.exec(text);
    if (found === null) refuse("it is not JSON");
    at += found[0].length;
    return found[0];
  };
  const is = (c) => text[at] === c && ++at > 0;
  const string = () => {
    const s = JSON.parse(take(STRING));
    return s.isWellFormed() ? s : refuse("half a character");
  };
  const value = (depth) => {
    if (depth > MAX_DEPTH) refuse("it is too deep");
    take(SPACE);
    let out;
    if (is("{")) out = object(depth);
    else if (is("[")) out = array(depth);
    else if (text[at] === '"') out = string();
    else if (text.startsWith("true", at)) { at += 4; out = true; }
    else if (text.startsWith("false", at)) { at += 5; out = false; }
    else if (text.startsWith("null", at)) { at += 4; out = null; }
    else out = number(take(NUMBER));
    take(SPACE);
    return out;
  };
  const object = (depth) => {
    const out = new Map();
    take(SPACE);
    if (is("}")) return out;
    do {
      take(SPACE);
      const name = string();
      if (out.has(name)) refuse("a member stands twice");
      take(SPACE);
      if (!is(":")) refuse("it is not JSON");
      out.set(name, value(depth + 1));
    } while (is(","));
    return is("}") ? out : refuse("it is not JSON");
  };
  const array = (depth) => {
    const out = [];
    take(SPACE);
    if (is("]")) return out;
    do { out.push(value(depth + 1)); } while (is(","));
    return is("]") ? out : refuse("it is not JSON");
  };
  const out = value(1);
  return at === text.length ? out : refuse("something stands behind it");
}

// number takes only what is printed as the same decimal value, and no -0.
function number(text) {
  const n = Number(text);
  if (!Number.isFinite(n) || Object.is(n, -0) || decimal(text) !== decimal(JSON.stringify(n))) refuse("a number is not exact");
  return n;
}

// decimal is the value of a number's text: sign, digits without zeros at
// either end, and the power of ten of the last digit.
function decimal(text) {
  const [, sign, whole, part = "", power = "0"] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
  const digits = (whole + part).replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === "" ? "0" : sign + short + "e" + (BigInt(power) - BigInt(part.length) + BigInt(digits.length - short.length));
}

// canonical is the RFC 8785 form. JSON.stringify writes strings and numbers as
// RFC 8785 does; sort() orders by UTF-16 code units.
export function canonical(v) {
  if (v instanceof Map) return "{" + [...v.keys()].sort().map((k) => JSON.stringify(k) + ":" + canonical(v.get(k))).join(",") + "}";
  return Array.isArray(v) ? "[" + v.map(canonical).join(",") + "]" : JSON.stringify(v);
}

// ---- the envelope ----------------------------------------------------------

const isText = (v) => typeof v === "string";

function members(v, ...names) {
  if (!(v instanceof Map) || v.size !== names.length || !names.every((n) => v.has(n))) refuse("other members");
  return names.map((n) => v.get(n));
}

function base64(text) {
  const out = isText(text) ? Buffer.from(text, "base64") : null;
  return out !== null && out.toString("base64") === text ? out : refuse("it is not base64");
}

function readEnvelope(bytes) {
  const [payload, type, signatures] = members(parse(bytes, MAX_ENVELOPE), "payload", "payloadType", "signatures");
  if (!isText(type) || !Array.isArray(signatures) || signatures.length !== 1) refuse("not one signature");
  const [keyid, sig] = members(signatures[0], "keyid", "sig");
  if (!isText(keyid)) refuse("no name of a key");
  return { type, payload: base64(payload), keyid, sig: base64(sig) };
}

// pae is what is signed: the DSSE pre-authentication encoding.
const pae = (type, payload) => Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload]);

function keyOf(hex) {
  const raw = Buffer.from(hex, "hex");
  if (raw.length !== 32 || raw.toString("hex") !== hex) throw new Error("a key is 64 lowercase hexadecimal digits");
  return [sha256(raw).slice(0, 16), createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") } })];
}

// ---- the payload -----------------------------------------------------------

const TEXTS = ["issuer", "audience", "kind", "tenant", "principal", "agentName", "toolName", "actionId"];
const NAMES = ["v", ...TEXTS, "attempt", "fence", "providerKey", "errors", "proposalHash", "argsDigest", "issuedAt", "sendDeadline"];

const isCount = (v) => Number.isSafeInteger(v) && v >= 0;

function moment(text) {
  const at = isText(text) && /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/.test(text) ? Date.parse(text) : NaN;
  return at >= 0 && new Date(at).toISOString() === text ? at : refuse("it is not a time");
}

function readPayload(bytes) {
  const v = parse(bytes, MAX_ENVELOPE);
  members(v, ...NAMES);
  if (canonical(v) !== bytes.toString("utf8")) refuse("it is not canonical");
  const w = Object.fromEntries(v);
  if (w.v !== 1 || !TEXTS.every((n) => isText(w[n]) && w[n] !== "") || !isText(w.providerKey)) refuse("a text is missing");
  if (![w.proposalHash, w.argsDigest].every((d) => isText(d) && /^[0-9a-f]{64}$/.test(d) && !/^0+$/.test(d))) refuse("a digest is none");
  if (!isCount(w.attempt) || !isCount(w.fence)) refuse("a number is none");
  const counted = w.attempt > 0 && w.fence > 0 && w.providerKey !== "";
  const uncounted = w.attempt === 0 && w.fence === 0 && w.providerKey === "";
  const reported = w.errors === "reported";
  const known = w.kind === "mutation" ? counted && (reported || w.errors === "unclear")
    : (w.kind === "read" || w.kind === "preview") && uncounted && reported;
  if (!known) refuse("the kind does not go with the rest");
  w.issued = moment(w.issuedAt);
  w.by = moment(w.sendDeadline);
  if (w.by <= w.issued || w.by - w.issued > MAX_LIFE) refuse("it lives too long");
  return w;
}

// ---- the check -------------------------------------------------------------

// fromHeader reads the header Verbatim-Warrant; no bytes where it has no form.
export function fromHeader(text) {
  const out = Buffer.from(text ?? "", "base64url");
  return out.toString("base64url") === text ? out : Buffer.alloc(0);
}

// Checker checks for one executor. keys are public keys in hex. What was used is
// remembered for this process alone, or in a memory that others share (uses.mjs).
export class Checker {
  #audience; #keys; #now; #memory; #began; #uses = new Map();

  constructor({ audience, keys, now = Date.now, memory }) {
    if (!isText(audience) || audience === "" || keys.length === 0) throw new Error("a checker needs an audience and keys");
    this.#audience = audience;
    this.#keys = new Map(keys.map(keyOf));
    this.#now = now;
    this.#memory = memory;
    this.#began = now();
  }

  // check says whether the tool may start now with exactly these bytes. On "ok"
  // the use is taken; value is what was checked (objects are Maps), text its
  // canonical form.
  check(envelope, args, { toolName = "", actionId = "", attempt = 0 } = {}) {
    let e, w;
    try { e = readEnvelope(envelope); } catch (err) { return failed(err, "malformed"); }
    if (e.type !== TYPE) return { verdict: "wrong_type" };
    const key = this.#keys.get(e.keyid);
    if (key === undefined) return { verdict: "unknown_key" };
    if (e.sig.length !== 64 || !verifySignature(null, pae(e.type, e.payload), key, e.sig)) return { verdict: "bad_signature" };
    try { w = readPayload(e.payload); } catch (err) { return failed(err, "malformed"); }
    const now = this.#now();
    if (w.audience !== this.#audience) return { verdict: "wrong_audience", warrant: w };
    if (toolName !== "" && toolName !== w.toolName) return { verdict: "wrong_tool", warrant: w };
    if (actionId !== "" && actionId !== w.actionId || attempt !== 0 && attempt !== w.attempt) return { verdict: "other_attempt", warrant: w };
    if (w.issued > now + EARLIEST) return { verdict: "not_yet", warrant: w };
    if (now >= w.by) return { verdict: "expired", warrant: w };
    let value, text;
    try {
      value = parse(args);
      text = canonical(value);
    } catch (err) { return failed(err, "arguments_changed", w); }
    const proposal = canonical(new Map([["agentName", w.agentName], ["argsCanonicalJson", text], ["kind", "tool"], ["toolName", w.toolName]]));
    if (!(value instanceof Map) || sha256(text) !== w.argsDigest || sha256(proposal) !== w.proposalHash) return { verdict: "arguments_changed", warrant: w };
    let verdict = this.#memory === undefined ? this.#use(w, now) : this.#memory.use(w);
    if (verdict === "ok" && this.#now() >= w.by) verdict = "expired"; // remembering took too long
    return { verdict, warrant: w, value, text };
  }

  #use(w, now) {
    if (w.issued < this.#began) return "replayed";
    for (const [id, u] of this.#uses) if (u.until < now) this.#uses.delete(id);
    const last = this.#uses.get(w.actionId);
    if (last !== undefined && w.fence < last.fence) return "other_attempt";
    if (last !== undefined && w.fence === last.fence) return "replayed";
    if (last === undefined && this.#uses.size >= MEMORY) return "unavailable";
    this.#uses.set(w.actionId, { fence: w.fence, until: w.by + KEEP });
    return "ok";
  }
}

// failed is a verdict for input that was refused; a fault of the program is
// thrown on.
function failed(err, verdict, warrant) {
  if (!(err instanceof Refused)) throw err;
  return { verdict, warrant };
}

// ---- the vectors -----------------------------------------------------------

function runVectors(path) {
  const file = JSON.parse(readFileSync(path, "utf8"));
  const out = {};
  let wrong = 0;
  for (const c of file.cases) {
    let now = Date.parse(file.began);
    const checker = new Checker({ audience: file.audience, keys: file.keys.map((k) => k.public), now: () => now });
    out[c.name] = c.checks.map((x) => {
      now = Date.parse(x.now);
      const args = x.argumentsBase64 === undefined ? Buffer.from(x.arguments ?? "", "utf8") : Buffer.from(x.argumentsBase64, "base64");
      const expect = { toolName: x.tool, actionId: x.actionId, attempt: x.attempt };
      const { verdict } = checker.check(Buffer.from(x.envelope, "utf8"), args, expect);
      if (verdict !== x.verdict) wrong++;
      return verdict;
    });
  }
  process.stdout.write(JSON.stringify(out) + "\n");
  process.exitCode = wrong === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  if (process.argv.length !== 3) {
    process.stderr.write("usage: node warrant.mjs VECTORS\n");
    process.exitCode = 2;
  } else runVectors(process.argv[2]);
}
