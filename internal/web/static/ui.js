"use strict";
// Follows judgements, and the keys. Pages work without it.
(() => {
  const body = document.body, live = "live" in body.dataset, find = id => document.getElementById(id);
  const say = text => { if (find("state")) find("state").textContent = text; };
  let shown = body.dataset.serial, newest = shown, pending = 0; // serials: of what is shown, and of what there is

  function refresh() {
    pending = 0;
    const main = find("main"), map = find("map");
    if (!main) { location.reload(); return; }
    if ("still" in main.dataset || main.querySelector("details[open]")) { say("there is a newer judgement: reload the page to see it"); return; } // somebody reads what would be asked for again
    const typing = document.activeElement && document.activeElement.closest("#main form");
    const target = (typing || map) && find("list") ? "#list" : "#main";
    window.htmx.ajax("GET", location.href, { target, select: target, swap: "outerHTML" }).catch(() => {}); // its events tell
  }
  const soon = after => { if (!pending) pending = setTimeout(refresh, after); };
  function failed(why) {
    say("not current: " + why + "; asked again in 5 s");
    soon(5000);
  }

  // What is swapped in is a page of ours: not the error of a proxy or of a server that is busy.
  let focused = null, mapped = false;
  document.addEventListener("htmx:beforeSwap", e => {
    const xhr = e.detail.xhr;
    if (!e.detail.shouldSwap) return;
    if (!/<main id="main"/.test(xhr.responseText)) { e.detail.shouldSwap = false; failed("the answer is no page (" + xhr.status + ")"); return; }
    focused = document.activeElement && document.activeElement.getAttribute("href");
    mapped = !!find("map");
  });
  document.addEventListener("htmx:afterSwap", e => {
    const serial = /<body data-serial="(\d+)"/.exec(e.detail.xhr.responseText);
    if (serial) shown = serial[1];
    if (find("map") && !mapped) { location.reload(); return; } // its script comes with the page
    if (mapped) document.dispatchEvent(new Event("judged"));
    if (live && shown === newest) say("follows the cluster");
    if (focused) { const a = [...document.querySelectorAll("#main a.row")].find(e => e.getAttribute("href") === focused); if (a) a.focus(); }
  });
  document.addEventListener("htmx:responseError", e => failed(e.detail.xhr.status + " " + e.detail.xhr.responseText.slice(0, 200)));
  for (const name of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(name, () => failed("no answer"));
  document.addEventListener("toggle", e => { if (e.target.tagName === "DETAILS" && !e.target.open && newest !== shown) soon(300); }, true);

  // A browser has six connections to one server: a page that is not seen must not hold one.
  let source = null;
  function close() {
    if (source) source.close();
    source = null;
  }
  function listen() {
    if (source || document.hidden) return;
    source = new EventSource("live");
    source.addEventListener("judged", e => {
      if (e.data === "0") return;
      newest = e.data;
      if (newest === shown) say("follows the cluster"); else soon(300);
    });
    source.onerror = () => {
      say("not connected: what is shown does not change any more");
      if (source && source.readyState === EventSource.CLOSED) { close(); setTimeout(listen, 5000); }
    };
  }
  if (live && window.EventSource) {
    listen();
    document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else listen(); });
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
