// A board of switches: a click on a head switches it off. Beside it stands how the prediction changes, below it how the
// tokens change, layer by layer.
//
// data: {layers, heads, off: [[layer, head], …], effect: [layer][head], picture: data URL, grid: [rows, columns],
//        rows: [[label, before, after], …] or null, read: the text where nothing is predicted,
//        maps: base64 of layers × patches bytes, 255 is `ceiling`, ceiling, means: [layer],
//        summary: {name: "cls", values: [layer]} or null}
// Out go the triggers "toggle": {layer, head} and "reset".

import { createHeadGrid, magmaAt, paintCell } from "../drawing/headgrid.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("[data-board]") ?? parentElement;
  let kept = parentElement.__board;
  if (!kept || kept.layers !== data.layers || kept.heads !== data.heads) {
    kept = parentElement.__board = Object.seal({
      layers: data.layers,
      heads: data.heads,
      grid: null, //        see drawing/headgrid.js
      film: "", //          the shape that the row of small pictures was made for
      toggle: null, //      switches a head
      reset: null, //       switches all on
    });
    build(root, kept);
  }
  const say = (trigger, what) => setTriggerValue(trigger, { ...what, stamp: Date.now() });
  kept.toggle = (layer, head) => {
    const cell = kept.grid.at(layer, head);
    const pressed = cell.getAttribute("aria-pressed") === "true";
    cell.setAttribute("aria-pressed", String(!pressed)); // at once; the numbers follow
    root.classList.add("waiting");
    say("toggle", { layer, head });
  };
  kept.reset = () => say("reset", {});
  paintBoard(root, kept, data);
  paintPredictions(root, data);
  paintFilm(root, kept, data);
  root.classList.remove("waiting");
  return () => delete parentElement.__board;
}

function build(root, kept) {
  root.innerHTML = `<div class="sides"><div class="switches"><div class="field"></div><p class="said"></p>
    <button class="reset">switch all on</button></div><div class="prediction"></div></div><div class="film"></div>`;
  kept.grid = createHeadGrid(root.querySelector(".field"), {
    layers: kept.layers,
    heads: kept.heads,
    tag: "button",
    onPoint: () => {},
    onClick: (layer, head) => kept.toggle(layer, head),
  });
  root.querySelector(".reset").addEventListener("click", () => kept.reset());
}

function paintBoard(root, kept, data) {
  const off = new Set(data.off.map(([layer, head]) => `${layer}.${head}`));
  for (let layer = 0; layer < data.layers; layer++) {
    for (let head = 0; head < data.heads; head++) {
      const cell = kept.grid.at(layer, head),
        out = off.has(`${layer}.${head}`),
        effect = data.effect[layer][head];
      paintCell(cell, effect / 3, out ? "off" : "");
      cell.setAttribute("aria-pressed", String(out));
      cell.title = `layer ${layer}, head ${head}: adds ${effect.toFixed(2)} × what a head of its layer does on average`;
      cell.setAttribute("aria-label", `${cell.title}. ${out ? "Switch it on" : "Switch it off"}`);
    }
  }
  const names = data.off.map(([layer, head]) => `layer ${layer} head ${head}`);
  const many = names.length > 3 ? `${names.length} heads` : names.join(", ");
  root.querySelector(".said").textContent = off.size
    ? `off: ${many}`
    : "Bright heads add much. Click one: it is switched off.";
  root.querySelector(".reset").hidden = !off.size;
  root.dataset.off = [...off].join(" ");
}

function paintPredictions(root, data) {
  const place = root.querySelector(".prediction");
  const title = text("h3", data.rows ? "What it predicts" : "What is read from the picture");
  if (!data.rows) {
    place.replaceChildren(title, text("p", data.read));
    return;
  }
  const lines = data.rows.map(([label, before, after]) => {
    const line = document.createElement("div");
    line.className = "line";
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.style.setProperty("--before", before);
    bar.style.setProperty("--after", after);
    const name = text("span", label, "label");
    name.title = label;
    line.append(name, bar, text("span", percent(before)), text("b", data.off.length ? percent(after) : ""));
    return line;
  });
  const head = document.createElement("div");
  head.className = "line top";
  head.append(text("span", ""), text("span", ""), text("span", "before"), text("b", data.off.length ? "after" : ""));
  place.replaceChildren(title, head, ...lines);
}

const percent = (p) => `${(100 * p).toFixed(p < 0.0995 && p > 0 ? 1 : 0)} %`;

// One small picture for each layer: how much every patch's token differs from what it would have been.
function paintFilm(root, kept, data) {
  const film = root.querySelector(".film");
  const [rows, columns] = data.grid;
  const key = `${data.picture.length} ${rows} ${columns} ${data.layers}`;
  if (kept.film !== key) {
    kept.film = key;
    const frames = Array.from({ length: data.layers }, (_, layer) => {
      const frame = document.createElement("figure");
      const box = document.createElement("div");
      const canvas = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
      box.append(Object.assign(document.createElement("img"), { src: data.picture, alt: "" }), canvas);
      box.style.aspectRatio = `${columns} / ${rows}`;
      frame.append(box, text("figcaption", ""));
      frame.dataset.layer = layer;
      return frame;
    });
    film.replaceChildren(text("h3", "What the tokens lose, layer by layer"), text("p", "", "key"), ...frames);
  }
  const most = `${Math.round(100 * data.ceiling)} % or more`;
  film.querySelector(".key").textContent =
    `how far each patch's token has moved, relative to its length: black nothing, yellow ${most}`;
  const bytes = Uint8Array.from(atob(data.maps), (c) => c.charCodeAt(0));
  [...film.querySelectorAll("figure")].forEach((frame, layer) => {
    frame.querySelector("img").src = data.picture;
    paintMap(frame.querySelector("canvas"), bytes.subarray(layer * rows * columns, (layer + 1) * rows * columns));
    const summary = data.summary ? `, ${data.summary.name} ${percent(data.summary.values[layer])}` : "";
    frame.querySelector("figcaption").textContent = `layer ${layer}: ${percent(data.means[layer])}${summary}`;
    frame.classList.toggle("untouched", data.means[layer] === 0);
  });
}

function paintMap(canvas, bytes) {
  const context = canvas.getContext("2d"),
    image = context.createImageData(canvas.width, canvas.height);
  bytes.forEach((byte, i) => image.data.set([...magmaAt(byte / 255), 165 + byte * 0.3], 4 * i));
  context.putImageData(image, 0, 0);
}

function text(tag, words, className = "") {
  return Object.assign(document.createElement(tag), { textContent: words, className });
}
