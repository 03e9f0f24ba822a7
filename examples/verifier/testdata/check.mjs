// What the tests ask of verify.mjs, many times in one process.
//
//   node check.mjs files           standard input: {keys, items: [{kind, text}]}, texts in base64;
//                                  answers with an array: does each hold?
//   node check.mjs signatures      standard input: [{key, message, sig}] in hex; answers with an array: does each hold?
//   node check.mjs log DIR KEYS    does everything that can be done to one record of an exported log show?

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tree, ed25519, leafHash, openBundle, openCheckpoint, openReceipt, parseKeys, readExported, verifyLeaves } from "../verify.mjs";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function files() {
  const { keys, items } = JSON.parse(readFileSync(0, "utf8"));
  const trusted = parseKeys(keys);
  const open = {
    bundle: (b) => openBundle(utf8.decode(b), trusted),
    receipt: (b) => openReceipt(utf8.decode(b), trusted),
    checkpoint: (b) => openCheckpoint(b, trusted),
  };
  return items.map(({ kind, text }) => {
    try { open[kind](Buffer.from(text, "base64")); return true; } catch { return false; }
  });
}

function log(dir, keyFile) {
  const c = openCheckpoint(readFileSync(join(dir, "checkpoint")), parseKeys(readFileSync(keyFile, "utf8")));
  const leaves = [...readExported(dir, c.size)];
  verifyLeaves(leaves, c, [c]);
  const hashes = leaves.map(leafHash);
  const out = { records: leaves.length, tried: 0, missed: [] };
  const before = new Tree();
  const seen = (what, i, rest) => {
    const t = before.clone();
    for (const h of rest) t.add(h);
    out.tried++;
    if (t.size === c.size && t.root().equals(c.root)) out.missed.push(what + " " + i);
  };
  for (let i = 0; i < hashes.length; i++) {
    const changed = Buffer.from(leaves[i]);
    changed[i % changed.length] ^= 1;
    seen("change", i, [leafHash(changed), ...hashes.slice(i + 1)]);
    seen("delete", i, hashes.slice(i + 1));
    seen("insert", i, [hashes[i], ...hashes.slice(i)]);
    if (i + 1 < hashes.length) seen("swap", i, [hashes[i + 1], hashes[i], ...hashes.slice(i + 2)]);
    seen("cut off", i, []);
    before.add(hashes[i]);
  }
  return out;
}

function signatures() {
  const bytes = (text) => Buffer.from(text, "hex");
  return JSON.parse(readFileSync(0, "utf8")).map(({ key, message, sig }) => {
    try { return ed25519(bytes(key), bytes(message), bytes(sig)); } catch { return false; }
  });
}

const [mode, ...args] = process.argv.slice(2);
console.log(JSON.stringify({ files, signatures, log }[mode](...args)));
