// Asks the device for a passkey when a form needs one, puts what it signed
// into the form and sends it. The server decides what is signed; of a vote, the
// reason that stands in the form is a part.
"use strict";
(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const list = (ids) => ids.split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) }));
  // What JSON.stringify writes of texts and whole numbers, with the names in
  // order, is RFC 8785. The server writes the same again and compares.
  const statement = (vote, field) => {
    const said = JSON.parse(vote);
    field.value = field.value.replace(/^[\s\u0085]+|[\s\u0085]+$/g, "");
    if (field.value) Object.assign(said, { reason: field.value, v: 2 });
    return new TextEncoder().encode(JSON.stringify(said, Object.keys(said).sort()));
  };
  const assert = async (d, challenge) => {
    const got = await navigator.credentials.get({ publicKey: {
      challenge, rpId: d.rp, allowCredentials: list(d.allow), userVerification: "required", timeout: 120000 } });
    return { credential: got.rawId, client: got.response.clientDataJSON, data: got.response.authenticatorData, signature: got.response.signature };
  };
  const ballot = async (d, vote, field) => assert(d, await crypto.subtle.digest("SHA-256", statement(vote, field)));
  const make = async (form, d) => {
    const name = form.elements.name.value;
    const made = await navigator.credentials.create({ publicKey: {
      challenge: bytes(d.new), rp: { id: d.rp, name: "Verbatim" }, user: { id: bytes(d.user), name, displayName: name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })), excludeCredentials: list(d.exclude),
      authenticatorSelection: { residentKey: "preferred", userVerification: "required" }, attestation: "none", timeout: 120000 } });
    return { new_credential: made.rawId, new_client: made.response.clientDataJSON, new_attestation: made.response.attestationObject };
  };
  // Each box in a form of its own, and a page with a decision for each of several.
  const several = async (form) => {
    for (const one of form.querySelectorAll("fieldset.one")) {
      const choice = one.querySelector("input[type=radio]:checked").value;
      if (!choice) continue;
      const signed = await ballot(one.dataset, one.dataset[choice], one.querySelector("input[name^=reason-]"));
      for (const [name, value] of Object.entries(signed)) one.querySelector("input[name^=" + name + "-]").value = text(value);
    }
  };
  const single = async (form, d) => {
    const signed = d.vote ? await ballot(d, d.vote, form.elements.reason) : d.challenge ? await assert(d, bytes(d.challenge)) : {};
    if (d.new) Object.assign(signed, await make(form, d));
    for (const [name, value] of Object.entries(signed)) form.elements[name].value = text(value);
  };
  for (const box of document.querySelectorAll(".passkey[data-rp], .passkeys")) {
    const form = box.closest("form");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = form.querySelector("button");
      button.disabled = true;
      try {
        await (box.dataset.rp ? single(form, box.dataset) : several(form));
        form.submit();
      } catch (problem) {
        button.disabled = false;
        box.setAttribute("role", "alert");
        box.textContent = "The passkey was not used (" + problem.name + "). Nothing was changed. Try again.";
      }
    });
  }
})();
