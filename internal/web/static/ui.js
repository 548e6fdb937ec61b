"use strict";
// Follows judgements, and the keys. Pages work without it.
(() => {
  const body = document.body, state = () => document.getElementById("state");
  let shown = body.dataset.serial, pending = 0;

  function refresh() {
    pending = 0;
    const main = document.getElementById("main"), map = document.getElementById("map");
    if ("still" in main.dataset || main.querySelector("details[open]")) return; // somebody reads what would be asked for again
    if (map) document.dispatchEvent(new Event("judged"));
    const typing = document.activeElement && document.activeElement.closest("#main form");
    const target = (typing || map) && document.getElementById("list") ? "#list" : "#main";
    const focused = document.activeElement && document.activeElement.getAttribute("href");
    window.htmx.ajax("GET", location.href, { target, select: target, swap: "outerHTML" }).then(() => {
      if (target === "#main" && document.getElementById("map")) { location.reload(); return; } // its script comes with the page
      if (focused) { const a = [...document.querySelectorAll("#main a.row")].find(e => e.getAttribute("href") === focused); if (a) a.focus(); }
    });
  }

  if ("live" in body.dataset && window.EventSource) {
    const listen = () => {
      const source = new EventSource("live");
      source.addEventListener("judged", e => {
        if (state()) state().textContent = "follows the cluster";
        if (e.data === shown || e.data === "0") return;
        shown = e.data;
        if (!pending) pending = setTimeout(refresh, 300);
      });
      source.onerror = () => {
        if (state()) state().textContent = "not connected: what is shown does not change any more";
        if (source.readyState === EventSource.CLOSED) setTimeout(listen, 5000);
      };
    };
    listen();
  }

  const rows = () => [...document.querySelectorAll("#main a.row")];
  function step(by) {
    const all = rows(), at = all.indexOf(document.activeElement), to = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
    if (to) to.focus();
  }
  const pages = { o: "./", f: "findings", i: "map", n: "nodes" };
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    if (e.key === "/") { e.preventDefault(); document.getElementById("find").focus(); }
    else if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "?") document.getElementById("keys").showModal();
    else if (pages[e.key]) location.href = pages[e.key];
  });
})();
