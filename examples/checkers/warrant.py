"""A checker of warrants for executors that are written in Python.

It is written from docs/spec/warrant.md alone and uses the standard library
only; Ed25519 (RFC 8032) is verified here, because the library does not.

    from warrant import Checker, from_header
    checker = Checker("payments.example", [key_in_hex])
    result = checker.check(from_header(headers["Verbatim-Warrant"]), body)
    if result.verdict == "ok":
        run(result.value)           # the value that was checked, no other decode

    python3 warrant.py VECTORS      runs the vectors and prints the verdicts
"""

import base64
import binascii
import decimal
import hashlib
import json
import re
import sys
import threading
import time
from datetime import datetime, timezone

TYPE = "application/vnd.verbatim.warrant.v1+json"
MAX_ENVELOPE, MAX_ARGUMENTS, MAX_DEPTH = 64 << 10, 4 << 20, 64
MAX_LIFE, EARLIEST, KEEP, MEMORY = 30_000, 5_000, 60_000, 1 << 16


class Refused(Exception):
    """What was read is not in the one form."""


# ---- Ed25519 (RFC 8032 section 5.1) ----------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
ZERO = (0, 1, 1, 0)


def add(a, b):
    """Adds two points in extended coordinates (RFC 8032 section 5.1.4)."""
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    x, y, z, t = f - e, h - g, h + g, f + e
    return (x * y % P, z * t % P, y * z % P, x * t % P)


def times(n, point):
    out = ZERO
    while n > 0:
        if n & 1:
            out = add(out, point)
        point = add(point, point)
        n >>= 1
    return out


def decompress(raw):
    """Reads a point (RFC 8032 section 5.1.3); None where there is none."""
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    if (x * x - square) % P != 0 or x == 0 and sign == 1:
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def compress(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signed(key, message, sig):
    """Reports whether a key signed a message (RFC 8032 section 5.1.7)."""
    if len(key) != 32 or len(sig) != 64:
        return False
    point, s = decompress(key), int.from_bytes(sig[32:], "little")
    if point is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(sig[:32] + key + message).digest(), "little") % ORDER
    minus = (P - point[0], point[1], 1, P - point[3])
    return compress(add(times(s, BASE), times(h, minus))) == sig[:32]


# ---- strict JSON -----------------------------------------------------------

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def number(text):
    """Takes only what is printed as the same decimal value, and no -0."""
    if not NUMBER.fullmatch(text):
        raise Refused("not a number")
    n = float(text)
    if n in (float("inf"), float("-inf")) or n == 0 and text[0] == "-":
        raise Refused("a number is not exact")
    try:
        same = decimal.Decimal(text) == decimal.Decimal(printed(n))
    except decimal.InvalidOperation:  # an exponent beyond all
        same = False
    if not same:
        raise Refused("a number is not exact")
    return n


def members_of(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise Refused("a member stands twice")
    return out


def no_number(text):
    raise Refused("not a number")


def parse(raw, most=MAX_ARGUMENTS):
    """Reads one JSON text that has one reading."""
    if len(raw) > most:
        raise Refused("it is too long")
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=members_of, parse_int=number, parse_float=number, parse_constant=no_number)
        measure(value, 1)
    except (ValueError, RecursionError) as err:
        raise Refused("it has no reading, or several") from err
    return value


def measure(value, depth):
    if depth > MAX_DEPTH:
        raise Refused("it is too deep")
    if isinstance(value, str):
        value.encode("utf-8")  # half a character has no bytes
    elif isinstance(value, list):
        for x in value:
            measure(x, depth + 1)
    elif isinstance(value, dict):
        for name, x in value.items():
            name.encode("utf-8")
            measure(x, depth + 1)


def printed(n):
    """Writes a number as ECMAScript does (RFC 8785 section 3.2.2.3)."""
    if n == 0:
        return "0"
    sign, digits, power = decimal.Decimal(repr(n)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + power  # where the decimal point stands
    minus = "-" if sign else ""
    if len(text) <= point <= 21:
        return minus + text + "0" * (point - len(text))
    if 0 < point <= 21:
        return minus + text[:point] + "." + text[point:]
    if -6 < point <= 0:
        return minus + "0." + "0" * -point + text
    return minus + text[0] + ("." + text[1:] if len(text) > 1 else "") + "e" + ("+" if point > 0 else "-") + str(abs(point - 1))


def canonical(v):
    """The RFC 8785 form of a value that parse returned."""
    if v is None or v is True or v is False:
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, str):
        return json.dumps(v, ensure_ascii=False)
    if isinstance(v, (int, float)):
        return printed(float(v))
    if isinstance(v, list):
        return "[" + ",".join(map(canonical, v)) + "]"
    names = sorted(v, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(canonical(name) + ":" + canonical(v[name]) for name in names) + "}"


def sha256(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# ---- the envelope ----------------------------------------------------------


def members(v, *names):
    if not isinstance(v, dict) or set(v) != set(names):
        raise Refused("other members")
    return [v[name] for name in names]


def unbase64(text):
    if not isinstance(text, str):
        raise Refused("not base64")
    try:
        out = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as err:
        raise Refused("not base64") from err
    if base64.b64encode(out).decode("ascii") != text:
        raise Refused("not base64")
    return out


def read_envelope(raw):
    payload, kind, signatures = members(parse(raw, MAX_ENVELOPE), "payload", "payloadType", "signatures")
    if not isinstance(kind, str) or not isinstance(signatures, list) or len(signatures) != 1:
        raise Refused("not one signature")
    keyid, sig = members(signatures[0], "keyid", "sig")
    if not isinstance(keyid, str):
        raise Refused("no name of a key")
    return kind, unbase64(payload), keyid, unbase64(sig)


def pae(kind, payload):
    """What is signed: the DSSE pre-authentication encoding."""
    name = kind.encode("utf-8")
    return b"DSSEv1 %d %s %d %s" % (len(name), name, len(payload), payload)


# ---- the payload -----------------------------------------------------------

TEXTS = ("issuer", "audience", "kind", "tenant", "principal", "agentName", "toolName", "actionId")
NAMES = ("v", *TEXTS, "attempt", "fence", "providerKey", "errors", "proposalHash", "argsDigest", "issuedAt", "sendDeadline")
STAMP = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")
DIGEST = re.compile(r"[0-9a-f]{64}")


def moment(text):
    """A time in milliseconds since 1970."""
    found = STAMP.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise Refused("not a time")
    parts = list(map(int, found.groups()))
    try:
        at = datetime(*parts[:6], tzinfo=timezone.utc)
    except ValueError as err:
        raise Refused("not a time") from err
    out = (at - datetime(1970, 1, 1, tzinfo=timezone.utc)).days * 86_400_000 + (at.hour * 3600 + at.minute * 60 + at.second) * 1000 + parts[6]
    if out < 0:
        raise Refused("not a time")
    return out


def count(v):
    if isinstance(v, bool) or not isinstance(v, float) or v < 0 or v > 2**53 - 1 or v != int(v):
        raise Refused("not a count")
    return int(v)


def read_payload(raw):
    w = parse(raw, MAX_ENVELOPE)
    members(w, *NAMES)
    if canonical(w).encode("utf-8") != raw:
        raise Refused("not canonical")
    if count(w["v"]) != 1 or not all(isinstance(w[n], str) and w[n] for n in TEXTS) or not isinstance(w["providerKey"], str):
        raise Refused("a text is missing")
    for name in ("proposalHash", "argsDigest"):
        if not isinstance(w[name], str) or not DIGEST.fullmatch(w[name]) or set(w[name]) == {"0"}:
            raise Refused("a digest is none")
    attempt, fence = count(w["attempt"]), count(w["fence"])
    counted = attempt > 0 and fence > 0 and w["providerKey"] != ""
    uncounted = attempt == 0 and fence == 0 and w["providerKey"] == ""
    if w["kind"] == "mutation":
        known = counted and w["errors"] in ("reported", "unclear")
    else:
        known = w["kind"] in ("read", "preview") and uncounted and w["errors"] == "reported"
    if not known:
        raise Refused("the kind does not go with the rest")
    w["attempt"], w["fence"] = attempt, fence
    w["issued"], w["by"] = moment(w["issuedAt"]), moment(w["sendDeadline"])
    if not 0 < w["by"] - w["issued"] <= MAX_LIFE:
        raise Refused("it lives too long")
    return w


# ---- the check -------------------------------------------------------------


def from_header(text):
    """Reads the header Verbatim-Warrant; no bytes where it has no form."""
    try:
        out = base64.urlsafe_b64decode((text + "=" * (-len(text) % 4)).encode("ascii"))
    except (binascii.Error, UnicodeEncodeError):
        return b""
    return out if base64.urlsafe_b64encode(out).decode("ascii").rstrip("=") == text else b""


class Result:
    """A verdict; on "ok" value is what was checked and text its RFC 8785 form."""

    def __init__(self, verdict, warrant=None, value=None, text=None):
        self.verdict, self.warrant, self.value, self.text = verdict, warrant, value, text


class Checker:
    """Checks for one executor; remembers for this process, or in a memory that others share (uses.py)."""

    def __init__(self, audience, keys, now=lambda: time.time_ns() // 1_000_000, memory=None):
        if not audience or not keys:
            raise ValueError("a checker needs an audience and keys")
        raw = [bytes.fromhex(k) for k in keys]
        if any(len(k) != 32 for k in raw):
            raise ValueError("a key is 64 hexadecimal digits")
        self.audience, self.now, self.memory, self.began = audience, now, memory, now()
        self.keys = {hashlib.sha256(k).hexdigest()[:16]: k for k in raw}
        self.uses, self.lock = {}, threading.Lock()

    def check(self, envelope, arguments, tool="", action="", attempt=0):
        """Says whether the tool may start now with exactly these bytes."""
        try:
            kind, payload, keyid, sig = read_envelope(envelope)
        except Refused:
            return Result("malformed")
        if kind != TYPE:
            return Result("wrong_type")
        if keyid not in self.keys:
            return Result("unknown_key")
        if not signed(self.keys[keyid], pae(kind, payload), sig):
            return Result("bad_signature")
        try:
            w = read_payload(payload)
        except Refused:
            return Result("malformed")
        now = self.now()
        verdict = self.standing(w, tool, action, attempt, now)
        if verdict != "ok":
            return Result(verdict, w)
        try:
            value = parse(arguments)
        except Refused:
            return Result("arguments_changed", w)
        text = canonical(value)
        proposal = canonical({"agentName": w["agentName"], "argsCanonicalJson": text, "kind": "tool", "toolName": w["toolName"]})
        if not isinstance(value, dict) or sha256(text) != w["argsDigest"] or sha256(proposal) != w["proposalHash"]:
            return Result("arguments_changed", w)
        verdict = self.memory.use(w) if self.memory else self.use(w, now)
        late = verdict == "ok" and self.now() >= w["by"]  # remembering took too long
        return Result("expired" if late else verdict, w, value, text)

    def standing(self, w, tool, action, attempt, now):
        if w["audience"] != self.audience:
            return "wrong_audience"
        if tool and tool != w["toolName"]:
            return "wrong_tool"
        if action and action != w["actionId"] or attempt and attempt != w["attempt"]:
            return "other_attempt"
        if w["issued"] > now + EARLIEST:
            return "not_yet"
        return "expired" if now >= w["by"] else "ok"

    def use(self, w, now):
        with self.lock:
            if w["issued"] < self.began:
                return "replayed"
            self.uses = {id: u for id, u in self.uses.items() if u[1] >= now}
            last = self.uses.get(w["actionId"])
            if last is not None and w["fence"] <= last[0]:
                return "replayed" if w["fence"] == last[0] else "other_attempt"
            if last is None and len(self.uses) >= MEMORY:
                return "unavailable"
            self.uses[w["actionId"]] = (w["fence"], w["by"] + KEEP)
            return "ok"


# ---- the vectors -----------------------------------------------------------


def run_vectors(path):
    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    clock, out, wrong = [0], {}, 0
    for case in file["cases"]:
        clock[0] = moment(file["began"])
        checker = Checker(file["audience"], [k["public"] for k in file["keys"]], now=lambda: clock[0])
        out[case["name"]] = verdicts = []
        for x in case["checks"]:
            clock[0] = moment(x["now"])
            args = base64.b64decode(x["argumentsBase64"]) if "argumentsBase64" in x else x.get("arguments", "").encode("utf-8")
            got = checker.check(x["envelope"].encode("utf-8"), args, x.get("tool", ""), x.get("actionId", ""), x.get("attempt", 0))
            verdicts.append(got.verdict)
            wrong += got.verdict != x["verdict"]
    print(json.dumps(out))
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 warrant.py VECTORS")
    sys.exit(run_vectors(sys.argv[1]))
