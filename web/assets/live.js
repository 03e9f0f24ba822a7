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
      if (n > 0 || parts.length > 0) parts.push(n + " " + name);
      if (parts.length === 2) break;
    }
    return parts.length ? parts.join(" ") : "0 s";
  };
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
  const live = document.querySelector("[data-refresh]");
  if (live) {
    setInterval(() => {
      const busy = document.activeElement && document.activeElement.matches("select, input, a, button");
      if (document.visibilityState === "visible" && !busy) location.reload();
    }, Number(live.dataset.refresh) * 1000);
  }
})();
