// Play shows in three seconds the row of the asking patch in every layer, over the picture. The view does not change,
// so Play ends where it began. A shared loop draws the same layers.

import { pictureDomain } from "../core/answers.js";
import { ROLES } from "../core/colours.js";
import { fitCanvas, outlineCell, setVisible } from "../drawing/dom.js";
import { makePrint, printHeat } from "../drawing/light.js";
import { missingLayers, rowInLayer } from "../lens/curtain.js";
import { isMap, layersAtHand } from "../lens/state.js";

const PLAY_MS = 3000;
const STANDS_FOR = 0.6; // the part of a layer's time before the next layer fades in
const POINTING_DISTANCE = 4; // px: a shorter move of the pointer does not stop Play

// The place among `count` layers after this part of the time; 2.3: layer 2 under 30 % of layer 3.
export function placeInFilm(part, count, isStill = false) {
  const place = Math.min(count - 1e-6, Math.max(0, part * count));
  const index = Math.floor(place);
  if (isStill || index === count - 1) return index;
  return index + Math.max(0, place - index - STANDS_FOR) / (1 - STANDS_FOR);
}

// The rows of this head in all layers, drawn on a photograph: {layers, draw(context, place)}. unit: px
// of the canvas for each px of a drawing
export function createLayerFilm(lens, photo, unit) {
  const { data, frame, view } = lens;
  const { pack, what, mark } = frame.shown;
  const layers = layersAtHand(data);
  const prints = [0, 1].map(() => ({ index: -1, print: makePrint(photo) })); // two layers stand over each other
  const printOf = (index) => {
    const kept = prints[index % 2];
    if (kept.index !== index) {
      kept.index = index;
      const values = rowInLayer(lens, layers[index]);
      const domain = pictureDomain(values, 0, pack, what, view.ceiling);
      printHeat(kept.print, values, pack.prefixCount, pack.rows, pack.columns, domain);
    }
    return kept.print.canvas;
  };
  const [cellWidth, cellHeight] = [photo.width / pack.columns, photo.height / pack.rows];
  const [x, y] = [(mark % pack.columns) * cellWidth, Math.floor(mark / pack.columns) * cellHeight];
  function draw(context, place) {
    const index = Math.floor(place);
    context.drawImage(printOf(index), 0, 0);
    context.globalAlpha = place - index;
    if (place > index) context.drawImage(printOf(index + 1), 0, 0);
    context.globalAlpha = 1;
    if (mark >= 0) outlineCell(context, x, y, cellWidth, cellHeight, unit, ROLES.query);
  }
  return { layers, draw };
}

// canvas: over the picture; button: starts and stops Play; changed(): called when another layer is shown
export function createPlay(lens, canvas, button, { isStill, changed }) {
  const { choice, data, frame, page } = lens;
  const waiting = []; // functions to call once all layers are here
  // layer: the layer on show, −1: none; run: cancels a former one; key: what it shows; from: where the pointer was
  const play = { layer: -1, run: 0, key: "", from: null };

  const canPlay = () => layersAtHand(data).length > 1 && choice.view.direction === "row" && !isMap(choice.view.what);
  const keyNow = () => [data.main.id, frame.shown.token, frame.pictureWidth, JSON.stringify(choice.view)].join(" ");

  // Fetches the missing layers; calls `act` in a frame in which all are here.
  function withLayers(act) {
    choice.layersLooked = true;
    waiting.push(act);
    page.schedule();
  }

  function show(layer) {
    play.layer = layer;
    page.root.classList.toggle("plays", layer >= 0);
    changed();
  }

  function start() {
    const run = ++play.run;
    play.from = { ...choice.pointer };
    play.key = keyNow();
    button.setAttribute("aria-pressed", "true");
    withLayers(() => run === play.run && play.key === keyNow() && begin(run));
  }

  function begin(run) {
    const film = createLayerFilm(lens, frame.photo, frame.unit);
    fitCanvas(canvas, frame.pictureWidth, frame.pictureHeight, frame.ratio);
    const context = canvas.getContext("2d");
    let startTime = 0;
    const step = (time) => {
      if (run !== play.run || !page.alive) return;
      startTime ||= time;
      if (time - startTime >= PLAY_MS) return stop();
      const place = placeInFilm((time - startTime) / PLAY_MS, film.layers.length, isStill());
      film.draw(context, place);
      const layer = film.layers[Math.floor(place)];
      if (layer !== play.layer) show(layer);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // Returns whether there was something to stop.
  function stop() {
    if (button.getAttribute("aria-pressed") !== "true") return false;
    play.run++;
    button.setAttribute("aria-pressed", "false");
    show(-1);
    return true;
  }

  const toggle = () => stop() || (canPlay() && start());
  button.addEventListener("click", toggle);

  // Called in each frame of See. Another picture, patch, head or size ends Play.
  function paint() {
    setVisible(button, canPlay());
    if (play.key !== keyNow()) stop();
  }

  // Called in each frame of the lens, in Lab too, where loops are made.
  function serve() {
    if (waiting.length && !missingLayers(lens, true).length) for (const act of waiting.splice(0)) act();
  }

  return {
    layer: () => play.layer,
    toggle,
    stop,
    paint,
    serve,
    withLayers,
    pointed: ({ clientX: x, clientY: y }) =>
      play.from && Math.hypot(x - play.from.x, y - play.from.y) > POINTING_DISTANCE && stop(),
  };
}
