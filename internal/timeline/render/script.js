(() => {
  "use strict";
  const svg = document.getElementById("picture");
  const all = (what, from) => Array.from((from || document).querySelectorAll(what));

  // The lines: a filter.
  const filter = document.getElementById("filter"), found = document.getElementById("found");
  const lines = all("#lines tbody tr").map(row => ({row, text: row.textContent.toLowerCase()}));
  filter.parentElement.hidden = false;
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const l of lines) {
      l.row.hidden = !words.every(w => l.text.includes(w));
      if (!l.row.hidden) n++;
    }
    found.textContent = words.length ? n + " of " + lines.length : "";
  });
  if (!svg) return;

  // The picture: k is the zoom factor, t the horizontal offset.
  const width = svg.viewBox.baseVal.width;
  const moving = all("[data-x]", svg).map(e => ({e, x: +e.dataset.x, w: e.dataset.w && +e.dataset.w, y: e.dataset.y || 0}));
  const labels = all("a[data-lane]", svg).map(e => {
    const text = e.querySelector(".label");
    return {x: +e.dataset.x, lane: e.dataset.lane, text, w: text.textContent.length * 6.4 + 12};
  });
  const ticks = all(".tick", svg).map(e => ({e, x: +e.dataset.x, first: !e.classList.contains("off")}));
  const gaps = all(".gap", svg), titles = all(".title", svg);
  let k = 1, t = 0;
  const draw = () => {
    k = Math.min(400, Math.max(1, k));
    t = Math.min(0, Math.max(width - width * k, t));
    for (const m of moving) {
      if (m.w === undefined) m.e.setAttribute("transform", "translate(" + (m.x * k + t) + "," + m.y + ")");
      else { m.e.setAttribute("x", m.x * k + t); m.e.setAttribute("width", m.w * k); }
    }
    svg.classList.toggle("zoomed", k > 1);
    for (const g of gaps) g.classList.toggle("off", k > 1); // the times between are visible then
    const taken = ticks.filter(m => m.first).map(m => m.x * k + t);
    for (const m of ticks) if (!m.first) {
      const x = m.x * k + t, free = taken.every(o => Math.abs(o - x) >= 62);
      if (free) taken.push(x);
      m.e.classList.toggle("off", !free);
    }
    const used = {};
    for (const l of labels) {
      const x = l.x * k + t;
      const slot = [0, 1].find(s => (used[l.lane + "/" + s] ?? -1e9) <= x - 6 && (k > 1 || x + l.w < width));
      l.text.classList.toggle("off", slot === undefined);
      if (slot === undefined) continue;
      l.text.setAttribute("y", slot ? 26 : -16);
      used[l.lane + "/" + slot] = x - 6 + l.w;
    }
  };
  const zoom = (by, x) => { const old = k; k = Math.min(400, Math.max(1, k * by)); t = x - (x - t) * k / old; draw(); };
  const at = event => { const box = svg.getBoundingClientRect(); return (event.clientX - box.left) * width / box.width; };
  svg.addEventListener("wheel", e => { if (e.shiftKey || k === 1 && e.deltaY > 0) return; e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), at(e)); }, {passive: false});
  let from = null, moved = false;
  svg.addEventListener("pointerdown", e => { if (e.pointerType !== "touch" || k > 1) { from = {x: at(e), t}; moved = false; } });
  addEventListener("pointermove", e => {
    if (!from) return;
    const by = at(e) - from.x;
    if (Math.abs(by) > 4) { moved = true; svg.classList.add("drag"); }
    if (moved) { t = from.t + by; draw(); }
  });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { from = null; svg.classList.remove("drag"); });
  svg.addEventListener("click", e => { if (moved) { e.preventDefault(); moved = false; } }, true);
  svg.addEventListener("dragstart", e => e.preventDefault());
  addEventListener("keydown", e => {
    if (e.target === filter || e.ctrlKey || e.metaKey || e.altKey) return;
    const middle = width / 2, step = width / 8;
    switch (e.key) {
    case "+": case "=": zoom(1.5, middle); break;
    case "-": zoom(1 / 1.5, middle); break;
    case "0": k = 1; t = 0; draw(); break;
    case "ArrowLeft": t += step; draw(); break;
    case "ArrowRight": t -= step; draw(); break;
    }
  });
  document.querySelector(".tools").hidden = false;
  for (const b of all("[data-zoom]")) b.addEventListener("click", () => {
    if (b.dataset.zoom === "all") { k = 1; t = 0; draw(); } else zoom(b.dataset.zoom === "in" ? 1.5 : 1 / 1.5, width / 2);
  });
  svg.classList.add("live");

  // A mark under the pointer shows its text below the picture and highlights its row.
  const detail = document.getElementById("detail");
  const light = mark => {
    detail.hidden = false;
    detail.textContent = mark.querySelector("title").textContent;
    for (const r of all("tr.lit")) r.classList.remove("lit");
    const line = document.getElementById((mark.getAttribute("href") || "").slice(1));
    if (line) line.classList.add("lit");
  };
  for (const mark of all("a.mark", svg)) {
    mark.addEventListener("pointerenter", () => light(mark));
    mark.addEventListener("focus", () => {
      const x = +mark.dataset.x * k + t;
      if (x < 0 || x > width) { t += width / 2 - x; draw(); }
      light(mark);
    });
  }
  // On a narrow screen the picture scrolls, at first to the late DEL; the titles stay visible.
  const late = svg.querySelector(".latedel"), pane = svg.parentElement;
  pane.addEventListener("scroll", () => {
    const x = 12 + pane.scrollLeft * width / svg.getBoundingClientRect().width;
    for (const title of titles) title.setAttribute("x", x);
  });
  if (late) pane.scrollLeft = (+late.dataset.x / width) * svg.getBoundingClientRect().width - pane.clientWidth * 0.6;
})();
