// Asks the device for a signature of each decision on a page with several,
// puts them into the form and sends it. Whoever has no passkey needs no script.
"use strict";
(() => {
  const form = document.querySelector("#batch");
  const box = form && form.querySelector(".passkeys");
  if (!box) return;
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const sign = async (one) => {
    const choice = one.querySelector("input[type=radio]:checked").value, d = one.dataset;
    if (!choice) return;
    const got = await navigator.credentials.get({ publicKey: {
      challenge: bytes(d[choice]), rpId: d.rp, userVerification: "required", timeout: 120000,
      allowCredentials: d.allow.split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) })) } });
    for (const [name, value] of Object.entries({ credential: got.rawId, client: got.response.clientDataJSON,
      data: got.response.authenticatorData, signature: got.response.signature }))
      one.querySelector("input[name^=" + name + "-]").value = text(value);
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      for (const one of form.querySelectorAll("fieldset.one")) await sign(one);
      form.submit();
    } catch (problem) {
      button.disabled = false;
      box.setAttribute("role", "alert");
      box.textContent = "A passkey was not used (" + problem.name + "). Nothing was changed. Try again.";
    }
  });
})();
