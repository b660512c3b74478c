// A weight beside what it carries: for the patch under the cursor, its weights and weight × ‖W_O v‖.
//
// data: the container of playground/pack with {view: {id, layer, head, query}, sections: {pack, image}}. The pack
// holds one layer; another is asked for by the state "look", "layer.head.row.column", which also goes into the
// address.

import { holds, largestIndex, layerOf, openContainer, rowInto, sumOf, unpack, weighInto } from "../core/core.js";
import { patchAt } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { decodeJpeg } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector("[data-carried]") ?? parentElement;
  const kept = (parentElement.__carried ??= begin(root));
  kept.tell = (look) => setStateValue("look", look);
  if (data && data !== kept.data) take(kept, data);
  return () => {
    clearTimeout(kept.telling);
    kept.watch.disconnect();
    delete parentElement.__carried;
  };
}

function begin(root) {
  const figure = (title) => `<figure><figcaption>${title}</figcaption><canvas></canvas><p></p></figure>`;
  const slider = (name) => `<label>${name} <output></output><input type="range" min="0" data-of="${name}"></label>`;
  root.innerHTML = `<div class="choices">${slider("layer")}${slider("head")}</div>
    <div class="pair">${figure("The weight")}${figure("What arrives: weight × ‖W<sub>O</sub> v‖")}</div>
    <p class="verdict"
        aria-live="polite"></p>`;
  const kept = Object.seal({
    root,
    canvases: [...root.querySelectorAll("canvas")], // the weights, and what arrives
    data: null, //        the bytes that came last
    viewId: null,
    pack: null,
    bitmap: null,
    photo: null,
    prints: [], // one for each of the two canvases
    weights: null, //     (tokens,) of the patch that asks
    arriving: null, //    (tokens,) weight × ‖W_O v‖ as shares of their sum
    look: null, //        what is chosen: {layer, head, patch}
    hover: -1, //         the patch under the cursor, which goes before
    said: null, //        what was drawn last, in numbers
    frame: 0,
    tell: null, //        sends `look` to the page
    telling: 0,
    watch: null, //       the observer of its size
  });
  for (const input of root.querySelectorAll("input")) {
    input.addEventListener("input", () => choose(kept, { [input.dataset.of]: Number(input.value) }));
  }
  for (const canvas of kept.canvases) {
    const follow = (event) => {
      kept.hover = patchUnder(kept, canvas, event);
      schedule(kept);
    };
    canvas.addEventListener("pointermove", follow);
    canvas.addEventListener("pointerleave", () => {
      kept.hover = -1;
      schedule(kept);
    });
    canvas.addEventListener("click", (event) => choose(kept, { patch: patchUnder(kept, canvas, event) }));
  }
  kept.watch = new ResizeObserver(() => schedule(kept));
  kept.watch.observe(root);
  root.__carried = { read: () => kept.said };
  return kept;
}

function take(kept, data) {
  kept.data = data;
  const { header, section } = openContainer(data);
  const pack = (kept.pack = unpack(section("pack")));
  kept.weights = new Float32Array(pack.tokens);
  kept.arriving = new Float32Array(pack.tokens);
  const { id, layer, head, query } = header.view;
  if (kept.viewId !== id || !kept.look) kept.look = { layer, head, patch: query };
  kept.viewId = id;
  const [layers, heads] = kept.root.querySelectorAll("input");
  layers.max = String(pack.layers - 1);
  heads.max = String(pack.heads - 1);
  kept.bitmap = null;
  kept.photo = null;
  decodeJpeg(section("image")).then((bitmap) => {
    if (kept.pack !== pack) return;
    kept.bitmap = bitmap;
    kept.photo = null;
    schedule(kept);
  });
}

function choose(kept, change) {
  if (!kept.pack) return;
  kept.look = { ...kept.look, ...change };
  schedule(kept);
  clearTimeout(kept.telling);
  const { layer, head, patch } = kept.look;
  kept.telling = setTimeout(
    () => kept.tell([layer, head, Math.floor(patch / kept.pack.columns), patch % kept.pack.columns].join(".")),
    300,
  );
}

function patchUnder({ pack }, canvas, event) {
  const box = canvas.getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width,
    y = (event.clientY - box.top) / box.height;
  return patchAt(x, y, pack.rows, pack.columns);
}

function schedule(kept) {
  kept.frame ||= requestAnimationFrame(() => {
    kept.frame = 0;
    if (kept.pack && kept.bitmap) draw(kept);
  });
}

function draw(kept) {
  const { pack, look, root } = kept;
  const head = Math.min(pack.heads - 1, look.head),
    front = pack.prefixCount;
  const patch = Math.min(pack.patches - 1, kept.hover >= 0 ? kept.hover : look.patch);
  root.querySelectorAll("output").forEach((output, i) => (output.textContent = [look.layer, head][i]));
  root.querySelectorAll("input").forEach((input, i) => (input.value = [look.layer, head][i]));
  if (!holds(pack, look.layer)) return void (root.querySelector(".verdict").textContent = "This layer is on its way.");
  rowInto(kept.weights, 0, pack, look.layer, head, front + patch, pack.scale);
  weighInto(kept.arriving, 0, kept.weights, layerOf(pack, look.layer).norms, head * pack.tokens, pack.tokens);
  const all = sumOf(kept.arriving, 0, pack.tokens); // as shares, so that both pictures have the same colours
  for (let j = 0; j < pack.tokens; j++) kept.arriving[j] /= all || 1;
  const tops = [kept.weights, kept.arriving].map((shares) => largestIndex(shares, front, pack.tokens) - front);
  const ceilings = [kept.weights, kept.arriving].map((shares) => exposure(shares, front, pack.tokens));
  const domain = { low: 0, high: Math.max(...ceilings), log: false };
  [kept.weights, kept.arriving].forEach((shares, i) => paintOne(kept, i, shares, patch, tops[i], domain));
  const same = tops[0] === tops[1];
  root.querySelector(".verdict").textContent = same
    ? `Patch ${place(pack, patch)}: the most-weighted patch is also the one that contributes most.`
    : `Patch ${place(pack, patch)}: the most-weighted patch is ${place(pack, tops[0])}, ` +
      `but ${place(pack, tops[1])} contributes most.`;
  kept.said = {
    layer: look.layer,
    head,
    patch,
    tops,
    weights: Array.from(kept.weights),
    arriving: Array.from(kept.arriving),
  };
}

const place = (pack, patch) => `(${Math.floor(patch / pack.columns)}, ${patch % pack.columns})`;

function paintOne(kept, i, shares, patch, top, domain) {
  const { pack } = kept,
    canvas = kept.canvases[i];
  const ratio = Math.min(3, window.devicePixelRatio || 1),
    width = Math.round(canvas.clientWidth * ratio);
  const size = pack.header.size ?? [pack.rows, pack.columns],
    height = Math.round((width * size[0]) / size[1]);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  if (kept.photo?.width !== width) {
    kept.photo = makePhoto(kept.bitmap, width, height);
    kept.prints = kept.canvases.map(() => makePrint(kept.photo));
  }
  printHeat(kept.prints[i], shares, pack.prefixCount, pack.rows, pack.columns, domain);
  const tag = {
    patch: top,
    text: `${(100 * shares[pack.prefixCount + top]).toFixed(1)} %`,
    colour: i ? "#009E73" : "#D55E00",
  };
  drawPicture(
    canvas.getContext("2d"),
    width,
    height,
    kept.prints[i].canvas,
    { rows: pack.rows, columns: pack.columns, grid: false, mark: patch, tag },
    ratio,
  );
  const prefix = sumOf(shares, 0, pack.prefixCount);
  const others = pack.prefixCount ? ` · class token and registers: ${(100 * prefix).toFixed(1)} %` : "";
  canvas.nextElementSibling.textContent = `most: ${place(pack, top)}, ${tag.text}${others}`;
}
