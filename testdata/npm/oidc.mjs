// Runs the certified OpenID provider `oidc-provider` for tests. The one argument
// is JSON: {client, secret, redirects, people: {subject: {name, groups}}}. It
// prints its issuer, and ends with its standard input.
import { createServer } from "node:http";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import Provider from "oidc-provider";

const { client, secret, redirects, people } = JSON.parse(process.argv[2]);
const jwk = (type, options) => ({ ...generateKeyPairSync(type, options).privateKey.export({ format: "jwk" }), use: "sig" });
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://localhost:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: client, client_secret: secret, redirect_uris: redirects, grant_types: ["authorization_code"], response_types: ["code"],
      id_token_signed_response_alg: "ES256", require_auth_time: true }],
    jwks: { keys: [jwk("ec", { namedCurve: "P-256" }), jwk("rsa", { modulusLength: 2048 })] },
    cookies: { keys: [randomBytes(32).toString("hex")] },
    pkce: { required: () => true },
    scopes: ["openid", "profile"],
    claims: { openid: ["sub"], profile: ["name", "preferred_username", "groups"] },
    conformIdTokenClaims: false, // they stand in the ID token
    findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, preferred_username: id, ...people[id] }) },
  });
  server.on("request", provider.callback());
  process.stdout.write(issuer + "\n");
});
process.stdin.resume().on("end", () => process.exit(0));
