"use strict";
const all = [...document.querySelectorAll("details")];
const text = all.map(d => d.dataset.text.toLowerCase());
let timer = 0;
document.getElementById("q").addEventListener("input", e => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const words = e.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    all.forEach((d, i) => { d.hidden = !words.every(w => text[i].includes(w)); });
    document.querySelectorAll("section").forEach(s => { s.hidden = !s.querySelector("details:not([hidden])"); });
  }, 120);
});
