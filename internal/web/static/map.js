"use strict";
// Draws the map of IPAM: one dot for each address, in a picture that is made once and then only scaled.
(() => {
  const box = document.getElementById("map"), canvas = box.querySelector("canvas"), at = document.getElementById("at"), field = document.getElementById("goto");
  const ctx = canvas.getContext("2d"), picture = document.createElement("canvas");
  const gap = 2, heading = 14;
  let pools = [], blocks = [], nodes = [], width = 1, height = 1, scale = 1, x = 0, y = 0, queued = false, hover = null, cut = 0, here = "";
  const unread = "unread" in box.dataset;
  box.hidden = false;

  // What the legend shows is what is drawn.
  function colours() {
    const out = {};
    document.querySelectorAll(".legend i").forEach(i => {
      const rgb = getComputedStyle(i).backgroundColor.match(/\d+/g).map(Number);
      out[i.className.slice(-1).charCodeAt(0)] = rgb;
    });
    return out;
  }

  // Blocks of a pool are put in rows, so that the whole is about as wide as it is high times the canvas.
  function layout() {
    const total = pools.reduce((n, p) => n + p.blocks.length, 0), ratio = canvas.clientWidth / canvas.clientHeight;
    const across = Math.max(4, Math.ceil(Math.sqrt(total * ratio)));
    blocks = []; width = 1; let top = 0;
    for (const p of pools) {
      const side = Math.max(1, ...p.blocks.map(b => Math.ceil(Math.sqrt(b.cells.length)))), tile = side + gap;
      p.top = top; top += heading;
      p.blocks.forEach((b, i) => {
        const one = { x: (i % across) * tile, y: top + Math.floor(i / across) * tile, side: Math.ceil(Math.sqrt(b.cells.length)), block: b };
        blocks.push(one); width = Math.max(width, one.x + tile);
      });
      top += Math.ceil(p.blocks.length / across) * tile + 4;
    }
    height = Math.max(1, top);
  }

  function paint() {
    const c = colours();
    picture.width = width; picture.height = height;
    const p = picture.getContext("2d"), image = p.createImageData(width, height), d = image.data;
    for (const b of blocks) {
      for (let i = 0; i < b.block.cells.length; i++) {
        const rgb = c[b.block.cells.charCodeAt(i)] || [128, 128, 128];
        const o = 4 * ((b.y + Math.floor(i / b.side)) * width + b.x + i % b.side);
        d[o] = rgb[0]; d[o + 1] = rgb[1]; d[o + 2] = rgb[2]; d[o + 3] = 255;
      }
    }
    p.putImageData(image, 0, 0);
  }

  function draw() {
    queued = false;
    const began = performance.now(), ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== Math.round(w * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, w, h);
    ctx.imageSmoothingEnabled = scale < 1;
    ctx.drawImage(picture, x, y, width * scale, height * scale);
    const ink = getComputedStyle(canvas).color;
    ctx.fillStyle = ink; ctx.strokeStyle = ink; ctx.font = "12px system-ui, sans-serif";
    for (const p of pools) ctx.fillText(p.name + "  " + p.cidr, Math.max(4, x), y + (p.top + heading - 4) * scale);
    if (scale >= 8) {
      for (const b of blocks) {
        const bx = x + b.x * scale, by = y + b.y * scale, s = b.side * scale;
        if (bx > w || by > h || bx + s < 0 || by + s < 0) continue;
        ctx.strokeRect(bx - .5, by - .5, s + 1, s + 1);
        if (s > 110) ctx.fillText(b.block.cidr + (b.block.node < 0 ? "" : "  " + nodes[b.block.node]), bx, by - 4, s);
      }
    }
    if (hover) { ctx.lineWidth = 2; ctx.strokeRect(x + hover.x * scale, y + hover.y * scale, hover.w * scale, hover.w * scale); ctx.lineWidth = 1; }
    const took = performance.now() - began;
    canvas.dataset.frame = took.toFixed(2);
    canvas.dataset.slowest = Math.max(took, Number(canvas.dataset.slowest || 0)).toFixed(2);
    canvas.dataset.frames = Number(canvas.dataset.frames || 0) + 1;
  }
  const redraw = () => { if (!queued) { queued = true; requestAnimationFrame(draw); } };

  function all() { scale = Math.min(canvas.clientWidth / width, canvas.clientHeight / height, 6); x = (canvas.clientWidth - width * scale) / 2; y = 4; redraw(); }
  function zoom(by, px, py) {
    const to = Math.min(60, Math.max(.05, scale * by));
    x = px - (px - x) * to / scale; y = py - (py - y) * to / scale; scale = to; redraw();
  }

  // Addresses as numbers, of both families.
  function number(text) {
    if (text.includes(".")) return text.split(".").reduce((n, p) => n * 256n + BigInt(parseInt(p, 10) || 0), 0n);
    const [head, tail] = text.split("::"), h = head ? head.split(":") : [], t = tail ? tail.split(":") : [];
    const full = tail === undefined ? h : [...h, ...Array(Math.max(0, 8 - h.length - t.length)).fill("0"), ...t];
    return full.reduce((n, p) => n * 65536n + BigInt(parseInt(p, 16) || 0), 0n);
  }
  function text(n, six) {
    if (!six) return [24n, 16n, 8n, 0n].map(s => (n >> s) & 255n).join(".");
    return [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map(s => ((n >> s) & 65535n).toString(16)).join(":");
  }
  const addressOf = (b, i) => { const base = b.cidr.split("/")[0]; return text(number(base) + BigInt(i), base.includes(":")); };

  // seek goes to an address or a block, to the first block of a node, or to the address of a pod, which the server knows.
  function seek(what) {
    what = what.trim();
    if (!what || what.includes(":") || /^[\d./]+$/.test(what)) { if (what) go(what); return; }
    const node = nodes.indexOf(what), first = node < 0 ? null : blocks.find(b => b.block.node === node);
    if (first) { go(first.block.cidr); return; }
    if (node >= 0) { at.textContent = "no block that is drawn is of node " + what; return; }
    fetch("map.json?pod=" + encodeURIComponent(what)).then(r => r.json()).then(a => {
      if (a.ip) { go(a.ip); at.textContent = a.ip + " of " + a.pod + " in " + at.textContent; } else at.textContent = a.says;
    }).catch(() => { at.textContent = "it could not be asked for"; });
  }

  function go(what) {
    const [ip, bits] = what.trim().split("/"), six = ip.includes(":");
    let n; try { n = number(ip); } catch { return; }
    for (const b of blocks) {
      const base = b.block.cidr.split("/")[0], first = number(base), i = n - first;
      if (base.includes(":") !== six || i < 0n || i >= BigInt(b.block.cells.length)) continue;
      scale = Math.max(8, Math.min(canvas.clientWidth, canvas.clientHeight) / (b.side * 2));
      x = canvas.clientWidth / 2 - (b.x + b.side / 2) * scale; y = canvas.clientHeight / 2 - (b.y + b.side / 2) * scale;
      const k = Number(i);
      here = bits ? "" : ip;
      hover = bits ? { x: b.x, y: b.y, w: b.side } : { x: b.x + k % b.side, y: b.y + Math.floor(k / b.side), w: 1 };
      at.textContent = b.block.cidr + (b.block.node < 0 ? "" : " of " + nodes[b.block.node]);
      redraw(); return;
    }
    at.textContent = "no block " + (cut ? "that is drawn " : "") + "has " + what + (cut ? ": " + cut + " blocks are not drawn" : "") + (unread ? ": blocks or pools were not read completely" : "");
  }

  function under(px, py) {
    const wx = (px - x) / scale, wy = (py - y) / scale;
    for (const b of blocks) {
      if (wx < b.x || wy < b.y || wx >= b.x + b.side || wy >= b.y + b.side) continue;
      const i = Math.floor(wy - b.y) * b.side + Math.floor(wx - b.x);
      return i < b.block.cells.length ? { b, i } : null;
    }
    return null;
  }

  let asked = 0;
  function tell(hit) {
    clearTimeout(asked);
    if (!hit) { hover = null; at.textContent = ""; redraw(); return; }
    hover = { x: hit.b.x + hit.i % hit.b.side, y: hit.b.y + Math.floor(hit.i / hit.b.side), w: 1 }; redraw();
    const ip = here = addressOf(hit.b.block, hit.i), where = ip + " in " + hit.b.block.cidr + (hit.b.block.node < 0 ? "" : " of " + nodes[hit.b.block.node]);
    at.textContent = where;
    asked = setTimeout(() => fetch("map.json?ip=" + encodeURIComponent(ip)).then(r => r.json()).then(a => { at.textContent = where + ": " + a.says; }).catch(() => {}), 120);
  }

  let drag = null;
  canvas.addEventListener("pointerdown", e => { drag = { x: e.offsetX, y: e.offsetY, moved: false }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", e => {
    if (!drag) { tell(under(e.offsetX, e.offsetY)); return; }
    if (Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) > 3 || drag.moved) {
      drag.moved = true; x += e.offsetX - drag.x; y += e.offsetY - drag.y; drag.x = e.offsetX; drag.y = e.offsetY; redraw();
    }
  });
  canvas.addEventListener("pointerup", e => {
    const click = drag && !drag.moved; drag = null;
    const hit = click && under(e.offsetX, e.offsetY);
    if (hit && scale >= 6) location.href = "address?ip=" + encodeURIComponent(addressOf(hit.b.block, hit.i));
    else if (hit) go(hit.b.block.cidr);
  });
  canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY); }, { passive: false });
  canvas.addEventListener("keydown", e => {
    const by = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
    if (by) { e.preventDefault(); x += by[0]; y += by[1]; redraw(); }
    else if (e.key === "+" || e.key === "=") zoom(1.5, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (e.key === "-") zoom(1 / 1.5, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (e.key === "0") all();
    else if (e.key === "Enter" && here) location.href = "address?ip=" + encodeURIComponent(here);
  });
  box.querySelectorAll("[data-zoom]").forEach(b => b.addEventListener("click", () => {
    if (b.dataset.zoom === "all") all(); else zoom(b.dataset.zoom === "in" ? 1.5 : 1 / 1.5, canvas.clientWidth / 2, canvas.clientHeight / 2);
  }));
  field.addEventListener("change", () => { seek(field.value); canvas.focus(); });

  function load(first) {
    fetch("map.json").then(r => r.json()).then(m => {
      pools = m.pools; nodes = m.nodes || []; cut = m.cut || 0; layout(); paint();
      canvas.dataset.blocks = blocks.length;
      if (first) { all(); if (box.dataset.block) go(box.dataset.block); } else redraw();
      if (m.cut) at.textContent = m.cut + " blocks are not drawn: there are too many";
    }).catch(() => { at.textContent = "the map could not be read"; });
  }
  load(true);
  document.addEventListener("judged", () => load(false));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { paint(); redraw(); });
  addEventListener("resize", redraw);
})();
