// The atlas of heads: every layer and head as a coloured cell, and a card that says all about the one under the cursor.
//
// data: {layers, heads, measure: "entropy", microscope: "./?", words: "model=…" of the address, shown: [layer, head],
//        reach: 3,
//        measures: [{key, name, unit, digits, high, values: [layer][head], spread: the same or null}, …],
//        habits: [layer][head] {short, long, told}, offsets: [layer][head] [49 shares, row by row]}
// A cell is a link into the microscope. Where there is Streamlit, the trigger "open": {layer, head} leads there without
// loading the page anew.

import { createHeadGrid, magmaAt, paintCell } from "../drawing/matrix.js";

const CARD = `
  <p class="which"></p>
  <p class="habit"></p>
  <p class="told" hidden></p>
  <figure>
    <canvas width="7" height="7" role="img" aria-label="What each place around the query gets, on average"></canvas>
    <figcaption>what the places around the query get, on average; brightest: <b></b></figcaption></figure>
  <dl></dl>
  <a class="open">Open in the microscope</a>`;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-atlas]") ?? parentElement;
  let kept = parentElement.__atlas;
  if (!kept || kept.layers !== data.layers || kept.heads !== data.heads) {
    kept = parentElement.__atlas = Object.seal({
      layers: data.layers,
      heads: data.heads,
      data,
      grid: null, //        see drawing/matrix.js
      atHand: null, //      [layer, head] on the card
      open: null, //        opens a head in the microscope, where a link alone would load the page anew
    });
    build(root, kept);
  }
  kept.data = data;
  kept.open = setTriggerValue && ((layer, head) => setTriggerValue("open", { layer, head, stamp: Date.now() }));
  paintAtlas(root, kept);
  describe(root, kept, ...(kept.atHand ?? data.shown));
  return () => delete parentElement.__atlas;
}

function build(root, kept) {
  root.innerHTML = `<div class="sides"><div><div class="field"></div><div class="scale">
    <canvas width="256" height="1"></canvas><p><span>0</span><b></b><span></span></p>
    </div></div><aside class="card">${CARD}</aside></div>`;
  const go = (layer, head, event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // the browser opens a new tab
    const [l, h] = kept.atHand ?? [];
    const first = event.pointerType === "touch" && !(l === layer && h === head);
    if (first || kept.open) event.preventDefault();
    if (first)
      describe(root, kept, layer, head); // the second touch opens the head
    else kept.open?.(layer, head);
  };
  kept.grid = createHeadGrid(root.querySelector(".field"), {
    layers: kept.layers,
    heads: kept.heads,
    tag: "a",
    onPoint: (layer, head) => describe(root, kept, layer, head),
    onClick: go,
  });
  root.querySelector(".open").addEventListener("click", (event) => go(...kept.atHand, event));
  const bar = root.querySelector(".scale canvas").getContext("2d");
  for (let i = 0; i < 256; i++) {
    bar.fillStyle = `rgb(${magmaAt(i / 255).join(" ")})`;
    bar.fillRect(i, 0, 1, 1);
  }
}

const written = (measure, x) => `${x.toFixed(measure.digits)}${measure.unit === "%" ? " %" : ""}`;
const linkOf = ({ microscope, words }, layer, head) => `${microscope}${words}&layer=${layer}&head=${head}`;

function paintAtlas(root, kept) {
  const { data, grid } = kept;
  const measure = data.measures.find((m) => m.key === data.measure);
  for (let layer = 0; layer < data.layers; layer++) {
    for (let head = 0; head < data.heads; head++) {
      const cell = grid.at(layer, head),
        habit = data.habits[layer][head],
        value = measure.values[layer][head];
      paintCell(cell, value / measure.high, habit.told ? `${habit.short} · told` : habit.short);
      cell.href = linkOf(data, layer, head);
      const told = habit.told ? `, told to ${habit.told}` : "";
      const says = `${habit.long}${told}, ${measure.name} ${written(measure, value)}`;
      cell.setAttribute("aria-label", `layer ${layer}, head ${head}: ${says}. Open in the microscope`);
    }
  }
  const [low, name, high] = root.querySelectorAll(".scale p > *");
  low.textContent = measure.unit === "%" ? "0 %" : "0";
  name.textContent = measure.unit === "%" ? measure.name : `${measure.name}, ${measure.unit}`;
  const end = measure.unit === "%" ? `${measure.high.toFixed(0)} %` : measure.high.toFixed(1);
  high.textContent = `${measure.over ? "≥ " : ""}${end}`;
  root.dataset.measure = data.measure;
}

function describe(root, kept, layer, head) {
  const { data, grid } = kept;
  if (layer >= data.layers || head >= data.heads) [layer, head] = data.shown;
  if (kept.atHand) grid.at(...kept.atHand)?.classList.remove("at-hand");
  kept.atHand = [layer, head];
  grid.at(layer, head).classList.add("at-hand");
  root.querySelector(".which").textContent = `Layer ${layer} · head ${head}`;
  root.querySelector(".habit").textContent = data.habits[layer][head].long;
  const told = data.habits[layer][head].told;
  root.querySelector(".told").textContent = told ? `this head was told to ${told}` : "";
  root.querySelector(".told").hidden = !told;
  root.querySelector(".open").href = linkOf(data, layer, head);
  const rows = data.measures.map((measure) => {
    const [name, value] = [document.createElement("dt"), document.createElement("dd")];
    const spread = measure.spread ? ` ± ${measure.spread[layer][head].toFixed(measure.digits)}` : "";
    name.textContent = measure.name;
    value.textContent = `${measure.values[layer][head].toFixed(measure.digits)}${spread} ${measure.unit}`;
    name.className = value.className = measure.key === data.measure ? "chosen" : "";
    return [name, value];
  });
  root.querySelector(".card dl").replaceChildren(...rows.flat());
  drawOffsets(root, data.offsets[layer][head], data.reach);
}

// The middle, the query itself, is left out of the colours: it often gets most by far.
function drawOffsets(root, shares, reach) {
  const side = 2 * reach + 1,
    middle = reach * side + reach;
  const most = Math.max(...shares.filter((_, i) => i !== middle), 1e-9);
  const canvas = root.querySelector(".card canvas");
  const context = canvas.getContext("2d");
  shares.forEach((share, i) => {
    context.fillStyle = i === middle ? "#0072b2" : `rgb(${magmaAt(share / most).join(" ")})`;
    context.fillRect(i % side, Math.floor(i / side), 1, 1);
  });
  root.querySelector(".card figcaption b").textContent = `${(100 * most).toFixed(most < 0.1 ? 1 : 0)} %`;
}
