// A memory of warrants that the processes of one machine share, whatever they are
// written in: docs/spec/warrant.md, "A memory that processes share".
//
//   import { Directory } from "./uses.mjs";
//   const checker = new Checker({ audience, keys, memory: new Directory("/var/lib/payments/uses") });
//
//   node uses.mjs DIRECTORY      takes uses from lines "ACTION FENCE ISSUED" and prints the verdicts

import { hash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const TIDY = 30_000, OLD = 150_000; // milliseconds: between looks, and until a file is of no use
const SLACK = 10_000; // how much later than its use a warrant can have been signed

// latestMoment is the latest that a name gives; what was signed before counts as used.
function latestMoment(names) {
  const moments = names.filter((n) => n.startsWith("began.")).map((n) => Number(n.slice(6)));
  if (!moments.every((n) => Number.isSafeInteger(n) && n > 0)) throw new Error("the memory of warrants names no moment");
  return Math.max(0, ...moments);
}

const sha256 = (text) => hash("sha256", text, "hex");

// Directory opens a memory, and makes it where there is none: what was signed
// before that counts as used.
export class Directory {
  #path; #now; #began; #tidied = new Map();

  constructor(path, now = Date.now) {
    this.#path = path;
    this.#now = now;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#began = this.#beginning();
    if (this.#began !== 0) return;
    for (let i = 0; i < 256; i++) mkdirSync(join(path, i.toString(16).padStart(2, "0")), { recursive: true, mode: 0o700 });
    create(join(path, `began.${now() + 1}`));
    syncEntries(path);
    this.#began = this.#beginning();
  }

  #beginning() {
    return latestMoment(readdirSync(this.#path));
  }

  use(w) {
    if (w.issued < this.#began) return "replayed";
    const id = sha256(w.actionId);
    const bucket = join(this.#path, id.slice(0, 2));
    try {
      const names = readdirSync(bucket);
      if (w.issued < this.#forget(bucket, names)) return "replayed";
      if (names.some((n) => n.startsWith(`${id}.`) && !(Number(n.slice(65)) <= w.fence))) return "other_attempt";
      if (!create(join(bucket, `${id}.${w.fence}`))) return "replayed"; // only one of all processes creates it
      syncEntries(bucket);
      return "ok";
    } catch {
      return "unavailable";
    }
  }

  // forget removes what has ended. It writes down before up to when, for a clock
  // that is set back, and returns that.
  #forget(bucket, names) {
    const now = this.#now(), forgot = latestMoment(names);
    if (now - (this.#tidied.get(bucket) ?? 0) < TIDY) return forgot;
    this.#tidied.set(bucket, now);
    const old = [];
    let latest = 0;
    for (const n of names.filter((n) => !n.startsWith("began."))) {
      const at = statSync(join(bucket, n), { throwIfNoEntry: false })?.mtimeMs;
      if (at === undefined || now - at <= OLD || Date.now() - at <= OLD) continue;
      old.push(n);
      latest = Math.max(latest, Math.ceil(at) + SLACK);
    }
    if (latest > forgot) {
      create(join(bucket, `began.${latest}`));
      syncEntries(bucket);
    }
    old.push(...names.filter((n) => n.startsWith("began.") && Number(n.slice(6)) < latest));
    for (const n of old) rmSync(join(bucket, n), { force: true });
    return Math.max(latest, forgot);
  }
}

// create makes a file; it returns false where the file exists.
function create(path) {
  let fd;
  try {
    fd = openSync(path, "wx", 0o600);
  } catch (err) {
    if (err.code === "EEXIST") return false;
    throw err;
  }
  try {
    if (process.platform === "win32") fsyncSync(fd); // elsewhere the entry of the directory is what counts
  } finally {
    closeSync(fd);
  }
  return true;
}

function syncEntries(dir) {
  if (process.platform === "win32") return;
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const memory = new Directory(process.argv[2]);
  for await (const line of createInterface({ input: process.stdin })) {
    const [actionId, fence, issued] = line.split(" ");
    console.log(memory.use({ actionId, fence: Number(fence), issued: Number(issued) }));
  }
}
