// Judges OpenAPI documents, an array of texts on standard input: by the
// published schema of their version, by resolving every reference, and by
// compiling every schema strictly. It prints an array of what is wrong with each.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

// schemas are those at every place where a path has one.
function* schemas(node, path) {
  if (node === null || typeof node !== "object") return;
  for (const [name, value] of Object.entries(node)) {
    const at = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (name === "schema") yield [at, value];
    else yield* schemas(value, at);
  }
}

async function judge(text) {
  const faults = [];
  const validator = new Validator();
  const said = await validator.validate(JSON.parse(text));
  for (const e of said.errors ?? []) faults.push(`${e.instancePath ?? ""} ${e.message ?? e}`);
  if (!said.valid && faults.length === 0) faults.push("it is not valid");
  if (said.valid) {
    try {
      validator.resolveRefs();
    } catch (err) {
      faults.push(err.message);
    }
  }
  const document = JSON.parse(text);
  const components = document.components?.schemas ?? {};
  const placed = (schema) => JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/components/schemas/', '"$ref":"https://document.test/#/$defs/'));
  const ajv = addFormats.default(new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true }));
  ajv.addSchema({ $id: "https://document.test/", $defs: placed(components) });
  const found = [...schemas({ paths: document.paths }, ""), ...Object.entries(components).map(([n, s]) => [`/components/schemas/${n}`, s])];
  if (found.length === 0) faults.push("it has no schema");
  for (const [at, schema] of found) {
    try {
      ajv.compile(placed(schema));
    } catch (err) {
      faults.push(`${at} ${err.message}`);
    }
  }
  return faults;
}

const out = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) out.push(await judge(text));
console.log(JSON.stringify(out));
