// Depth as a film: the same patch through all layers, as a strip under the picture. A click goes to a layer, dragging
// along the strip plays them.

import { answerCell, ownExposure } from "../core/answers.js";
import { entropyBits, holdsAll } from "../core/core.js";
import { WAYS } from "../core/ways.js";
import { fitCanvas, makeHeat, say, show } from "../drawing/dom.js";
import { heatInto, makePhoto } from "../drawing/light.js";
import { habitOf, layersAtHand } from "./shown.js";

const PACE = 40; // ms between two drawings

const FILM = `
  <canvas role="img" aria-label="This patch in every layer; click one to go there, drag to play them"></canvas>
  <p class="tabs small"><span>layers:</span>
    <button data-film="head"></button>
    <button data-film="sharpest" title="of each layer the head whose row is the most peaked">sharpest head</button>
    <button data-film="mean" title="the mean of all heads of each layer">mean of heads</button>
    <i></i></p>`;

export function bindFilm(lens) {
  const box = document.createElement("div");
  box.className = "film";
  box.innerHTML = FILM;
  lens.refs.pictureBox.after(box);
  const canvas = box.querySelector("canvas");
  lens.film = {
    box,
    canvas,
    buttons: [...box.querySelectorAll("button")],
    sign: box.querySelector("i"),
    lines: 1, // it stands in: layout.js gives it more where there is room
    of: "head", // which head of each layer: the chosen one, the "sharpest", or the "mean" of all
    wanted: !navigator.connection?.saveData, // layers that are not here are fetched; to save data, once it is looked at
    looked: false, // at the film: where each layer travels they come then
    nothing: null, // the weights of a layer that is on its way: none
    timer: 0, // of the next drawing, 0: none
    heat: null, // one pixel a patch, layers side by side
    values: null,
    mean: null,
  };
  const layerAt = (event) => {
    const layers = layersAtHand(lens);
    const rect = canvas.getBoundingClientRect();
    const { lines } = lens.film;
    const columns = Math.ceil(layers.length / lines);
    const at = (part, count) => Math.min(count - 1, Math.max(0, Math.floor(part * count)));
    const line = at((event.clientY - rect.top) / rect.height, lines);
    const place = line * columns + at((event.clientX - rect.left) / rect.width, columns);
    return layers[Math.min(layers.length - 1, place)];
  };
  const goTo = (event) => {
    const layer = layerAt(event);
    if (layer !== lens.view.layer) lens.choose({ layer });
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    goTo(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) goTo(event);
    const layer = layerAt(event);
    canvas.title = [`layer ${layer}`, habitOf(lens, layer, lens.view.head)?.label].filter(Boolean).join(": ");
  });
  box.addEventListener("pointerenter", () => {
    if (lens.film.looked) return;
    lens.film.looked = true;
    lens.schedule();
  });
  for (const button of lens.film.buttons) {
    button.addEventListener("click", () => {
      lens.film.of = button.dataset.film;
      lens.schedule();
    });
  }
}

// The layers that the film or the wall would show and that are not here, nearest first.
export function missingLayers(lens) {
  const { view, shown, film, main } = lens;
  const wanted = film.looked || (film.wanted && !main.trace?.sparing);
  if (view.beside !== "wall" && !wanted) return [];
  return layersAtHand(lens)
    .filter((layer) => !holdsAll(shown.pack, layer))
    .sort((a, b) => Math.abs(a - view.layer) - Math.abs(b - view.layer));
}

// "loading 3 layers", or nothing.
export function waySign(lens) {
  const missing = missingLayers(lens).length;
  return missing ? `loading ${missing} ${missing === 1 ? "layer" : "layers"}` : "";
}

// The film follows the cursor at its own pace, between the frames of the pictures: it costs a row of every layer.
export function paintFilmSoon(lens) {
  const { film } = lens;
  film.timer ||= setTimeout(() => {
    film.timer = 0;
    if (lens.alive && lens.main && lens.photo && !lens.shown.layerMissing) paintFilm(lens);
  }, PACE);
}

function paintFilm(lens) {
  const { film, view, shown } = lens;
  const { pack } = shown;
  const layers = layersAtHand(lens);
  show(film.box, layers.length > 1);
  if (layers.length < 2) return;
  for (const button of film.buttons) button.setAttribute("aria-pressed", String(button.dataset.film === film.of));
  say(film.buttons[0], `head ${pack.headNumbers[view.head]}`);
  say(film.sign, waySign(lens));
  const { rows, columns } = pack;
  const width = layers.length * columns;
  if (film.heat?.canvas.width !== width || film.heat.canvas.height !== rows) film.heat = makeHeat(rows, width);
  lens.patchPhoto ??= makePhoto(lens.photo.image, columns, rows);
  film.heat.pixels.fill(0);
  for (const [place, layer] of layers.entries()) {
    const values = rowOf(lens, layer) ?? noWeights(lens);
    const own = view.colours === "own" || WAYS[shown.what].spread;
    const domain = own ? ownExposure(values, 0, pack, shown.what, view.ceiling, view.log) : shown.domain;
    heatInto(
      film.heat.pixels,
      place * columns,
      width,
      values,
      pack.prefixCount,
      rows,
      columns,
      lens.patchPhoto,
      domain,
    );
  }
  film.heat.context.putImageData(film.heat.data, 0, 0);
  drawFilm(lens, layers);
}

// The photograph alone, until the layer is here.
function noWeights({ film, shown: { pack } }) {
  if (film.nothing?.length !== pack.tokens) film.nothing = new Float32Array(pack.tokens);
  return film.nothing;
}

// (tokens,) of this layer: of the chosen head, of the sharpest one or the mean of all. null while it is not here.
function rowOf(lens, layer) {
  const { film, view, shown } = lens;
  const { answers, token, scale, what, pack } = shown;
  const of = (head) => answerCell(answers, layer, head, token, scale, what, view.direction);
  if (film.of === "head") return of(view.head);
  if (film.values?.length !== pack.tokens) {
    film.values = new Float32Array(pack.tokens);
  }
  const kept = film.values.fill(0);
  let least = Infinity;
  for (let head = 0; head < pack.heads; head++) {
    const row = of(head);
    if (!row) return null;
    if (film.of === "mean") for (let j = 0; j < row.length; j++) kept[j] += row[j] / pack.heads;
    else {
      const bits = entropyBits(row, 0, pack.tokens);
      if (bits < least) kept.set(row);
      least = Math.min(least, bits);
    }
  }
  return kept;
}

function drawFilm(lens, layers) {
  const { film, shown, view, colours, unit, ratio } = lens;
  const { canvas } = film;
  const { rows, columns } = shown.pack;
  fitCanvas(canvas, canvas.clientWidth, canvas.clientHeight, ratio);
  const context = canvas.getContext("2d");
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  const inLine = Math.ceil(layers.length / film.lines);
  const step = width / inLine,
    down = height / film.lines,
    gap = 2 * unit;
  const fit = Math.min((step - gap) / columns, (down - 2 * gap) / rows);
  const w = fit * columns,
    h = fit * rows;
  context.imageSmoothingEnabled = fit < 1;
  const coming = missingLayers(lens).length > 0;
  for (const [place, layer] of layers.entries()) {
    const x = (place % inLine) * step + (step - w) / 2,
      y = Math.floor(place / inLine) * down + (down - h) / 2;
    const here = holdsAll(shown.pack, layer);
    context.globalAlpha = here ? 1 : 0.4;
    context.drawImage(film.heat.canvas, place * columns, 0, columns, rows, x, y, w, h);
    context.globalAlpha = 1;
    if (!here && coming) {
      context.font = `${Math.min(11 * unit, w / 4)}px ${colours.font}`;
      context.textAlign = "center";
      context.textBaseline = "middle";
      context.fillStyle = colours.ink;
      context.fillText("loading", x + w / 2, y + h / 2);
    }
    const habit = film.of === "head" ? habitOf(lens, layer, view.head) : null;
    if (habit) {
      context.fillStyle = habit.colour;
      context.fillRect(x, y + h - 3 * unit, w, 3 * unit); // what this head does in each layer
    }
    context.strokeStyle = layer === view.layer ? colours.accent : colours.line;
    context.lineWidth = layer === view.layer ? 2.5 * unit : unit;
    if (layer === view.layer) context.strokeRect(x, y, w, h);
  }
}
