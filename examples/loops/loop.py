"""An agent loop before Verbatim's decision API, with Python's standard library.

python3 loop.py (openai|anthropic) SCRIPT

SCRIPT holds the answers of a scripted model, one JSON list. Put your provider in
the place of Scripted; the rest stays. VERBATIM_URL and VERBATIM_TOKEN say where the
gateway is. RUN names this conversation: a loop that was cut off and begins again
under the same name repeats its calls with the same keys, and nothing runs twice.
"""

import http.client
import json
import os
import sys
import time
import urllib.parse

WAIT = 60  # seconds that the gateway holds one request


def once(pairs):
    """Refuses a member that comes twice: nobody knows which one the model meant."""
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a member comes twice")
    return out


class Gateway:
    def __init__(self, url, token):
        u = urllib.parse.urlsplit(url)
        make = http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection
        self.connect = lambda: make(u.hostname, u.port, timeout=WAIT + 30)
        self.headers = {"Authorization": "Bearer " + token}

    def ask(self, method, path, body=None, key=None):
        """Sends until there is an answer. Everything here may be repeated: it reads, or it has a key."""
        headers = dict(self.headers)
        if body is not None:
            headers.update({"Content-Type": "application/json", "Idempotency-Key": key})
        for attempt in range(6):
            connection = self.connect()
            try:
                connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read()
                if answer.status not in (429, 502, 503, 504):
                    return answer.status, json.loads(text)
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()
            time.sleep(0.2 * 2**attempt)
        raise RuntimeError("the gateway does not answer")

    def call(self, tool, arguments, key, call_id):
        """Stays with one call until it has an end, and returns the outcome for the model."""
        body = {"toolName": tool, "arguments": arguments, "callId": call_id}
        while True:
            status, answer = self.ask("POST", "/v1/call", body, key)
            outcome = answer.get("outcome")
            if outcome is None:  # the request itself was refused
                return {"status": "failed", "code": answer.get("code", "invalid_request"), "data": {}}
            if outcome["status"] not in ("approval_required", "in_progress"):
                return outcome
            data = outcome["data"]
            self.wait(data["actionId"], data["state"])  # for people, or for the tool; then the very same call again

    def wait(self, action, state):
        path = "/v1/actions/" + urllib.parse.quote(action, safe="")
        while True:
            status, seen = self.ask("GET", f"{path}?wait={WAIT}&state={state}")
            if status != 200:
                raise RuntimeError(f"the action cannot be read: {status}")
            if seen["state"] != state:
                return


class Scripted:
    """A model that has its answers written down; then it has nothing more to call."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.answers = iter(json.load(f, object_pairs_hook=once))

    def reply(self, messages):
        return next(self.answers, {"role": "assistant", "content": []})


def openai_calls(message):
    """function.arguments is the text that the model wrote. It is passed on as it is."""
    return [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls") or []]


def anthropic_calls(message):
    """input was parsed by the provider's API. It is written once; Python's integers keep every digit."""
    return [(b["id"], b["name"], json.dumps(b["input"])) for b in message["content"] if b["type"] == "tool_use"]


def openai_results(results):
    return [{"role": "tool", "tool_call_id": i, "content": json.dumps(o)} for i, o in results]


def anthropic_results(results):
    return [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": i, "content": json.dumps(o), "is_error": o["status"] != "ok"} for i, o in results]}]


SHAPES = {"openai": (openai_calls, openai_results), "anthropic": (anthropic_calls, anthropic_results)}


def main(shape, script):
    calls_of, results_of = SHAPES[shape]
    gateway = Gateway(os.environ["VERBATIM_URL"], os.environ["VERBATIM_TOKEN"])
    model, run = Scripted(script), os.environ["RUN"]
    messages = [{"role": "user", "content": "Please see to it."}]
    while True:
        message = model.reply(messages)
        messages.append(message)
        calls = calls_of(message)
        if not calls:
            break
        results = []
        for call_id, name, arguments in calls:
            # server__tool is server.tool; the key is one per intended effect
            outcome = gateway.call(name.replace("__", ".", 1), arguments, f"{run}:{call_id}", call_id)
            results.append((call_id, outcome))
        for m in results_of(results):
            messages.append(m)
            print(json.dumps(m), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES or not all(os.environ.get(n) for n in ("VERBATIM_URL", "VERBATIM_TOKEN", "RUN")):
        sys.exit("usage: RUN=... VERBATIM_URL=... VERBATIM_TOKEN=... python3 loop.py (openai|anthropic) SCRIPT")
    main(sys.argv[1], sys.argv[2])
