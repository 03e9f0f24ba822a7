// An agent loop before Verbatim's decision API, for Node 24 without packages.
//
// node loop.ts (openai|anthropic) SCRIPT
//
// SCRIPT holds the answers of a scripted model, one JSON list. Put your provider in
// the place of scripted(); the rest stays. VERBATIM_URL and VERBATIM_TOKEN say where
// the gateway is. RUN names this conversation: a loop that was cut off and begins
// again under the same name repeats its calls with the same keys, and nothing runs
// twice.

import { readFileSync } from "node:fs";

const waitSeconds = 60; // that the gateway holds one request

type Outcome = { status: string; code: string; data: { actionId?: string; state?: string } };
type ToolCall = { id: string; name: string; arguments: string };
type Message = { role: string; [member: string]: any };
type Shape = { calls(m: Message): ToolCall[]; results(of: [string, Outcome][]): Message[] };

const { VERBATIM_URL: url, VERBATIM_TOKEN: token, RUN: run } = process.env;

// exact parses JSON and keeps the text of each number: 9007199254740993 stays what it is.
const exact = (text: string): any =>
  JSON.parse(text, function (this: any, _name: string, value: any, context?: { source: string }) {
    return typeof value === "number" ? (JSON as any).rawJSON(context!.source) : value;
  } as any);

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

// ask sends until there is an answer. Everything here may be repeated: it reads, or it has a key.
async function ask(method: string, path: string, body?: object, key?: string): Promise<{ status: number; answer: any }> {
  const headers: Record<string, string> = { Authorization: "Bearer " + token };
  if (body) Object.assign(headers, { "Content-Type": "application/json", "Idempotency-Key": key });
  for (let attempt = 0; attempt < 6; attempt++) {
    try {
      const r = await fetch(url + path, { method, headers, body: body && JSON.stringify(body), redirect: "error", signal: AbortSignal.timeout((waitSeconds + 30) * 1000) });
      const text = await r.text();
      if (![429, 502, 503, 504].includes(r.status)) return { status: r.status, answer: exact(text) };
    } catch (error) {
      if (error instanceof SyntaxError) throw error;
    }
    await pause(200 * 2 ** attempt);
  }
  throw new Error("the gateway does not answer");
}

// call stays with one call until it has an end, and returns the outcome for the model.
async function call(tool: string, args: string, key: string, callId: string): Promise<Outcome> {
  for (;;) {
    const { answer } = await ask("POST", "/v1/call", { toolName: tool, arguments: args, callId }, key);
    const outcome: Outcome | undefined = answer.outcome;
    if (!outcome) return { status: "failed", code: answer.code ?? "invalid_request", data: {} }; // the request itself was refused
    if (outcome.status !== "approval_required" && outcome.status !== "in_progress") return outcome;
    await wait(outcome.data.actionId!, outcome.data.state!); // for people, or for the tool; then the very same call again
  }
}

async function wait(action: string, state: string): Promise<void> {
  for (;;) {
    const { status, answer } = await ask("GET", `/v1/actions/${encodeURIComponent(action)}?wait=${waitSeconds}&state=${state}`);
    if (status !== 200) throw new Error(`the action cannot be read: ${status}`);
    if (answer.state !== state) return;
  }
}

const shapes: Record<string, Shape> = {
  openai: {
    // function.arguments is the text that the model wrote. It is passed on as it is.
    calls: (m) => (m.tool_calls ?? []).map((c: any) => ({ id: c.id, name: c.function.name, arguments: c.function.arguments })),
    results: (of) => of.map(([id, o]) => ({ role: "tool", tool_call_id: id, content: JSON.stringify(o) })),
  },
  anthropic: {
    // input was parsed by the provider's API. It is written once, each number as it came.
    calls: (m) => m.content.filter((b: any) => b.type === "tool_use").map((b: any) => ({ id: b.id, name: b.name, arguments: JSON.stringify(b.input) })),
    results: (of) => [{ role: "user", content: of.map(([id, o]) => ({ type: "tool_result", tool_use_id: id, content: JSON.stringify(o), is_error: o.status !== "ok" })) }],
  },
};

// scripted is a model that has its answers written down; then it has nothing more to call.
function scripted(path: string): (messages: Message[]) => Message {
  const answers: Message[] = exact(readFileSync(path, "utf8"));
  return () => answers.shift() ?? { role: "assistant", content: [] };
}

const [shapeName, script] = process.argv.slice(2);
const shape = shapes[shapeName];
const reply = scripted(script);
const messages: Message[] = [{ role: "user", content: "Please see to it." }];
for (;;) {
  const message = reply(messages);
  messages.push(message);
  const calls = shape.calls(message);
  if (calls.length === 0) break;
  const results: [string, Outcome][] = [];
  for (const c of calls) {
    // server__tool is server.tool; the key is one per intended effect
    results.push([c.id, await call(c.name.replace("__", "."), c.arguments, `${run}:${c.id}`, c.id)]);
  }
  for (const m of shape.results(results)) {
    messages.push(m);
    console.log(JSON.stringify(m));
  }
}
