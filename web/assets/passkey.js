// Asks the device for a passkey when a form needs one, puts what it signed
// into the form and sends it. The server decides what is signed.
"use strict";
(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const list = (ids) => ids.split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) }));
  const fill = (form, values) => {
    for (const [name, value] of Object.entries(values)) form.elements[name].value = text(value);
  };
  const sign = async (form, d) => {
    const got = await navigator.credentials.get({ publicKey: {
      challenge: bytes(d.challenge), rpId: d.rp, allowCredentials: list(d.allow), userVerification: "required", timeout: 120000 } });
    fill(form, { credential: got.rawId, client: got.response.clientDataJSON,
      data: got.response.authenticatorData, signature: got.response.signature });
  };
  const make = async (form, d) => {
    const name = form.elements.name.value;
    const made = await navigator.credentials.create({ publicKey: {
      challenge: bytes(d.new), rp: { id: d.rp, name: "Verbatim" }, user: { id: bytes(d.user), name, displayName: name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })), excludeCredentials: list(d.exclude),
      authenticatorSelection: { residentKey: "preferred", userVerification: "required" }, attestation: "none", timeout: 120000 } });
    fill(form, { new_credential: made.rawId, new_client: made.response.clientDataJSON, new_attestation: made.response.attestationObject });
  };
  for (const box of document.querySelectorAll(".passkey[data-rp]")) {
    const form = box.closest("form"), d = box.dataset;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = form.querySelector("button");
      button.disabled = true;
      try {
        if (d.challenge) await sign(form, d);
        if (d.new) await make(form, d);
        form.submit();
      } catch (problem) {
        button.disabled = false;
        box.setAttribute("role", "alert");
        box.textContent = "The passkey was not used (" + problem.name + "). Nothing was changed. Try again.";
      }
    });
  }
})();
