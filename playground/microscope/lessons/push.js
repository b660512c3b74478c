// Shows a patch's token, and the vector that a layer's attention adds to the token, as arrows in their common plane.
// data: what `packed_arrows` of playground/lessons/block.py packs. Sends "patch".

import { ROLES } from "../core/colours.js";
import { decodeHalves, openContainer } from "../core/core.js";
import { patchFrom, patchText } from "../core/grid.js";
import { outlinePatch } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { lessonDrawing, sheetOf, withMinus } from "../drawing/stage.js";
import { WEIGHT_COLOUR } from "./mixture.js";
import { bringBitmap, followPatches, heightFor } from "./patch.js";

// Computes the arrows, without the DOM. The token lies along the first axis, as in Stream.arrows of
// playground/analysis/block.py.

// measures: (4, layers, patches): the length of the token, the length of the added vector, the cosine between the two,
// and the cosine between the token before and after the whole layer.
export function pushOf(measures, layers, layer, patch) {
  const patches = measures.length / (4 * layers);
  const [length, push, cosine, cosineAfter] = [0, 1, 2, 3].map(
    (quantity) => measures[(quantity * layers + layer) * patches + patch],
  );
  const sine = Math.sqrt(Math.max(0, 1 - cosine ** 2));
  return { length, push, cosine, kept: cosineAfter, token: [length, 0], added: [push * cosine, push * sine] };
}

const PLANE_HEIGHT = 300; // px: height of the plane
const ARROWS_MARGIN = 24; // px around the arrows
const ARROWHEAD_LENGTH = 13; // px: the length of an arrow's head
const MARKUP = `
  <div class="pair">
    <figure><figcaption><b data-ref="which"></b></figcaption><canvas data-ref="picture" tabindex="0" role="img"
        aria-label="The picture. The arrow keys choose a patch."></canvas></figure>
    <figure><figcaption><b data-ref="title"></b></figcaption><canvas data-ref="plane" role="img"
        aria-label="Three arrows: the token, the push, and their sum"></canvas>
      <p class="names" data-ref="names"></p></figure>
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>`;

function createPush(stage) {
  const state = Object.seal({
    stage,
    ...stage.refs,
    id: null, //     identifies the picture and the model
    data: null, //   the data
    layer: 0,
    at: 0, //        the chosen patch
    bitmap: null,
  });
  const choose = (patch) => {
    state.at = patch;
    stage.tell("patch", patchText(patch, state.data.grid[1]));
    stage.redraw();
  };
  followPatches(state.picture, () => ({ at: state.at, grid: state.data.grid }), choose);
  return {
    take: (data) => takePush(state, data),
    paint: (theme) => state.data && paintPush(state, theme),
    read: () => ({
      layer: state.layer,
      at: state.at,
      ...pushOf(state.data.moves, state.data.layers, state.layer, state.at),
    }),
  };
}

function takePush(state, data) {
  const { header, section } = openContainer(data);
  const { grid, layers, layer, upper: upperLayer } = header;
  const isNew = state.id !== header.id;
  state.layer = layer >= 0 && layer < layers ? layer : upperLayer;
  state.at = patchFrom(header.patch || header.start.join(), ...grid);
  if (!isNew) return;
  state.id = header.id;
  state.data = { ...header, moves: decodeHalves(section("moves")) };
  state.bitmap = null;
  bringBitmap(state, section("image"));
}

function paintPush(state, theme) {
  const { moves, layers, grid, size, title, names, says: template } = state.data;
  const [row, column] = [Math.floor(state.at / grid[1]), state.at % grid[1]];
  const vectors = pushOf(moves, layers, state.layer, state.at);
  const picture = sheetOf(state.picture, heightFor(state.picture, size));
  if (state.bitmap) picture.context.drawImage(state.bitmap, 0, 0, picture.width, picture.height);
  outlinePatch(picture.context, state.at, grid, picture.width, picture.height);
  const colours = [theme.soft, WEIGHT_COLOUR, ROLES.query];
  paintArrows(sheetOf(state.plane, Math.min(PLANE_HEIGHT, 0.7 * state.plane.clientWidth)), vectors, colours);
  const write = (name, html) => (state.stage.find(name).innerHTML = html);
  write("which", `Layer ${state.layer}, patch (${row}, ${column})`);
  write("title", title);
  write("names", names.map((name) => `<span><i></i>${name}</span>`).join(" "));
  for (const [n, mark] of state.stage.find("names").querySelectorAll("i").entries()) mark.style.background = colours[n];
  const numbers = {
    layer: state.layer,
    row,
    column,
    length: vectors.length.toFixed(1),
    push: vectors.push.toFixed(1),
    cosine: withMinus(vectors.cosine),
    kept: withMinus(vectors.kept),
  };
  write("sum", markedWords(template.replace(/\{(\w+)\}/g, (_, name) => numbers[name])));
}

// Paints the arrows as large as the room allows, with the same scale along both axes.
function paintArrows({ context, width, height }, { token, added: addedVector }, colours) {
  const sum = [token[0] + addedVector[0], token[1] + addedVector[1]];
  const [xs, ys] = [0, 1].map((axis) => [0, token[axis], sum[axis]]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(
    (width - 2 * ARROWS_MARGIN) / (right - left || 1),
    (height - 2 * ARROWS_MARGIN) / (high - low || 1),
  );
  /** @returns {[number, number]} */
  const toCanvas = ([x, y]) => [
    width / 2 + (x - (left + right) / 2) * scale,
    height / 2 - (y - (low + high) / 2) * scale, // up is positive
  ];
  const [origin, tokenTip, sumTip] = [[0, 0], token, sum].map(toCanvas);
  drawArrow(context, origin, tokenTip, colours[0], 4);
  drawArrow(context, tokenTip, sumTip, colours[1], 4);
  drawArrow(context, origin, sumTip, colours[2], 2);
}

function drawArrow(context, [x0, y0], [x1, y1], colour, lineWidth) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const headLength = Math.min(ARROWHEAD_LENGTH, length);
  const [dx, dy] = [((x1 - x0) / length) * headLength, ((y1 - y0) / length) * headLength];
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = lineWidth;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1 - dx / 2, y1 - dy / 2);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - dx - dy / 2, y1 - dy + dx / 2);
  context.lineTo(x1 - dx + dy / 2, y1 - dy - dx / 2);
  context.fill();
}

export default lessonDrawing(createPush, MARKUP);
