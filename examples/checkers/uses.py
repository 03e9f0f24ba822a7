"""A memory of warrants that the processes of one machine share, whatever they are
written in: docs/spec/warrant.md, "A memory that processes share".

    from uses import Directory
    checker = Checker(audience, keys, memory=Directory("/var/lib/payments/uses"))

    python3 uses.py DIRECTORY    takes uses from lines "ACTION FENCE ISSUED" and prints the verdicts
"""

import hashlib
import os
import sys
import time

TIDY, OLD = 30_000, 150_000  # milliseconds: between looks, and until a file is of no use
SLACK = 10_000  # how much later than its use a warrant can have been signed


def clock():
    return time.time_ns() // 1_000_000


def latest_moment(names):
    """The latest that a name gives; what was signed before counts as used."""
    moments = [int(n[6:]) for n in names if n.startswith("began.")]
    if any(m <= 0 for m in moments):
        raise ValueError("the memory of warrants names no moment")
    return max(moments, default=0)


class Directory:
    """Opens a memory, and makes it where there is none: what was signed before that counts as used."""

    def __init__(self, path, now=clock):
        self.path, self.now, self.tidied = path, now, {}
        os.makedirs(path, mode=0o700, exist_ok=True)
        self.began = self.beginning()
        if self.began:
            return
        for i in range(256):
            os.makedirs(os.path.join(path, f"{i:02x}"), mode=0o700, exist_ok=True)
        create(os.path.join(path, f"began.{now() + 1}"))
        sync_entries(path)
        self.began = self.beginning()

    def beginning(self):
        return latest_moment(os.listdir(self.path))

    def use(self, w):
        """Takes the one use of a warrant that was checked in every other way."""
        if w["issued"] < self.began:
            return "replayed"
        name = hashlib.sha256(w["actionId"].encode("utf-8")).hexdigest()
        bucket = os.path.join(self.path, name[:2])
        try:
            names = os.listdir(bucket)
            if w["issued"] < self.forget(bucket, names):
                return "replayed"
            if any(n.startswith(name + ".") and int(n[65:]) > w["fence"] for n in names):
                return "other_attempt"
            if not create(os.path.join(bucket, f"{name}.{w['fence']}")):
                return "replayed"  # only one of all processes creates it
            sync_entries(bucket)
            return "ok"
        except (OSError, ValueError):
            return "unavailable"

    def forget(self, bucket, names):
        """Removes what has ended. It writes down before up to when, for a clock that is set back, and returns that."""
        now, forgot = self.now(), latest_moment(names)
        if now - self.tidied.get(bucket, 0) < TIDY:
            return forgot
        self.tidied[bucket] = now
        old, latest = [], 0
        for n in names:
            try:
                at = os.stat(os.path.join(bucket, n)).st_mtime_ns // 1_000_000 + 1
            except FileNotFoundError:
                continue  # another process was first
            if not n.startswith("began.") and now - at > OLD and clock() - at > OLD:
                old.append(n)
                latest = max(latest, at + SLACK)
        if latest > forgot:
            create(os.path.join(bucket, f"began.{latest}"))
            sync_entries(bucket)
        old += [n for n in names if n.startswith("began.") and int(n[6:]) < latest]
        for n in old:
            try:
                os.remove(os.path.join(bucket, n))
            except FileNotFoundError:
                pass
        return max(latest, forgot)


def create(path):
    """Makes a file; returns False where it exists."""
    try:
        f = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    try:
        if os.name == "nt":  # elsewhere the entry of the directory is what counts
            os.fsync(f)
    finally:
        os.close(f)
    return True


def sync_entries(path):
    if os.name == "nt":
        return
    f = os.open(path, os.O_RDONLY)
    try:
        os.fsync(f)
    finally:
        os.close(f)


if __name__ == "__main__":
    memory = Directory(sys.argv[1])
    for line in sys.stdin:
        action, fence, issued = line.split()
        print(memory.use({"actionId": action, "fence": int(fence), "issued": int(issued)}), flush=True)
