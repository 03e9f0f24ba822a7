// A client of the TypeScript SDK: node tsclient.mjs URL TOKEN MODE, where MODE
// is legacy or a revision. It lists the tools, makes the calls that it reads
// as JSON from its standard input, and prints what it got.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token, mode] = process.argv.slice(2);
let input = "";
for await (const chunk of process.stdin) input += chunk;

const client = new Client(
  { name: "ts", version: "1" },
  { versionNegotiation: { mode: mode === "legacy" ? "legacy" : { pin: mode } } },
);
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
);
const tools = (await client.listTools()).tools.map((t) => t.name);
const results = [];
for (const call of JSON.parse(input)) results.push(await client.callTool(call));
console.log(JSON.stringify({ tools, results }));
await client.close();
