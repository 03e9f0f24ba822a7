// Counts down to deadlines and keeps the inbox fresh. Every page works
// without it.
"use strict";
(() => {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const span = (seconds) => {
    const parts = [];
    for (const [name, size] of units) {
      const n = Math.floor(seconds / size);
      seconds -= n * size;
      if (n > 0) parts.push(n + " " + name);
      if (parts.length === 2 || n === 0 && parts.length > 0) break;
    }
    return parts.length ? parts.join(" ") : "0 s";
  };
  // The server spells out times in the zone of this browser from the next
  // page on.
  const page = document.documentElement.dataset;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (page.zone && zone) document.cookie = page.zone + "=" + encodeURIComponent(zone) + "; path=/; max-age=34560000; samesite=strict" + ("secure" in page ? "; secure" : "");
  // The server says how long is left; this machine's clock may be wrong.
  const start = performance.now();
  const tick = () => {
    const gone = (performance.now() - start) / 1000;
    for (const time of document.querySelectorAll("time[data-left]")) {
      const left = Math.floor(Number(time.dataset.left) - gone);
      time.textContent = left > 0 ? "in " + span(left) : "now over";
    }
  };
  tick();
  setInterval(tick, 1000);
  // The inbox loads itself again while somebody is there: after a quarter of
  // an hour without a touch it stops, so that a forgotten page does not keep
  // a sign-in alive.
  const live = document.querySelector("[data-refresh]");
  if (!live) return;
  const key = "used", quiet = 15 * 60 * 1000;
  const used = () => sessionStorage.setItem(key, String(Date.now()));
  const [how] = performance.getEntriesByType("navigation");
  if (!how || how.type !== "reload" || !sessionStorage.getItem(key)) used();
  for (const event of ["pointerdown", "keydown", "scroll"]) addEventListener(event, used, { passive: true });
  setInterval(() => {
    const busy = document.activeElement && document.activeElement.matches("select, input, a, button");
    const there = Date.now() - Number(sessionStorage.getItem(key)) < quiet;
    if (document.visibilityState === "visible" && there && !busy) location.reload();
  }, Number(live.dataset.refresh) * 1000);
})();
