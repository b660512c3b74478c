// A patch's token, and what a layer's attention adds to it, as arrows in the plane that holds both.
//
// data: bytes, a container (see core/core.js) whose header says id, grid, size: [height, width], start: the [row,
// column] of the first patch, layers, upper: the layer where none is chosen, layer, patch: "row,column" or "", title,
// names: of the three arrows, says: a sentence with {numbers}; and whose sections are moves (float16, as
// pushOf takes them) and image (JPEG). Out goes the setting "patch".

import { ROLES } from "../core/colours.js";
import { decodeHalves, openContainer } from "../core/core.js";
import { patchAfterKey, patchAt, patchFrom, patchText } from "../core/grid.js";
import { decodeJpeg, outlineCell } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { magmaCss } from "../drawing/matrix.js";
import { keepDrawing, sheetOf, signedText, spotOf } from "../drawing/stage.js";

// What a layer's attention adds to one patch's token, in the plane that holds both: the token lies along the first
// axis. As Stream.arrows in playground/analysis/block.py. No DOM in here.

// `moves`: (4, layers, patches), the token's length, the push's, the cosine between them, and that of the token before
// and after the whole layer.
export function pushOf(moves, layers, layer, patch) {
  const patches = moves.length / (4 * layers);
  const [length, push, cosine, kept] = [0, 1, 2, 3].map((which) => moves[(which * layers + layer) * patches + patch]);
  const aside = Math.sqrt(Math.max(0, 1 - cosine ** 2));
  return { length, push, cosine, kept, token: [length, 0], added: [push * cosine, push * aside] };
}

const HIGH = 300; // px
const AROUND = 24; // px around the arrows
const HEAD = 13; // px: the length of an arrow's head
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
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    picture: stage.find("picture"),
    plane: stage.find("plane"),
    id: null, //     of the picture and the model
    set: null, //    what came in
    layer: 0,
    at: 0, //        the chosen patch
    bitmap: null,
  });
  const choose = (at) => {
    if (at === it.at || !(at >= 0)) return;
    it.at = at;
    stage.tell("patch", patchText(at, it.set.grid[1]));
    stage.redraw();
  };
  const point = (event) => {
    const [x, y] = spotOf(event, it.picture);
    choose(patchAt(x / it.picture.clientWidth, y / it.picture.clientHeight, ...it.set.grid));
  };
  it.picture.addEventListener("pointermove", point);
  it.picture.addEventListener("pointerdown", point);
  it.picture.addEventListener("keydown", (event) => {
    const next = patchAfterKey(event.key, it.at, ...it.set.grid);
    if (next < 0) return;
    event.preventDefault();
    choose(next);
  });
  return {
    take: (data) => takePush(it, data),
    paint: (theme) => it.set && paintPush(it, theme),
    read: () => ({ layer: it.layer, at: it.at, ...pushOf(it.set.moves, it.set.layers, it.layer, it.at) }),
  };
}

function takePush(it, data) {
  const { header, section } = openContainer(data);
  const { grid, layers, layer, upper } = header;
  const fresh = it.id !== header.id;
  it.layer = layer >= 0 && layer < layers ? layer : upper;
  if (it.stage.heeds("patch", header.patch) || fresh) it.at = patchFrom(header.patch || header.start.join(), ...grid);
  if (!fresh) return;
  it.id = header.id;
  it.set = { ...header, moves: decodeHalves(section("moves")) };
  it.bitmap = null;
  decodeJpeg(section("image")).then((bitmap) => {
    it.bitmap = bitmap;
    it.stage.redraw();
  });
}

function paintPush(it, theme) {
  const { moves, layers, grid, size, title, names, says } = it.set;
  const [rows, columns] = grid;
  const [row, column] = [Math.floor(it.at / columns), it.at % columns];
  const vectors = pushOf(moves, layers, it.layer, it.at);
  const picture = sheetOf(it.picture, Math.round((it.picture.clientWidth * size[0]) / size[1]));
  if (it.bitmap) picture.context.drawImage(it.bitmap, 0, 0, picture.width, picture.height);
  const [wide, high] = [picture.width / columns, picture.height / rows];
  outlineCell(picture.context, column * wide, row * high, wide, high, 1);
  const colours = [theme.soft, magmaCss(0.5), ROLES.query];
  paintArrows(sheetOf(it.plane, Math.min(HIGH, 0.7 * it.plane.clientWidth)), vectors, colours);
  const write = (name, html) => (it.stage.find(name).innerHTML = html);
  write("which", `Layer ${it.layer}, patch (${row}, ${column})`);
  write("title", title);
  write("names", names.map((name) => `<span><i></i>${name}</span>`).join(" "));
  for (const [n, mark] of it.stage.find("names").querySelectorAll("i").entries()) mark.style.background = colours[n];
  const numbers = {
    layer: it.layer,
    row,
    column,
    length: vectors.length.toFixed(1),
    push: vectors.push.toFixed(1),
    cosine: signedText(vectors.cosine),
    kept: signedText(vectors.kept),
  };
  write("sum", markedWords(says.replace(/\{(\w+)\}/g, (_, name) => numbers[name])));
}

// Paints the arrows as large as there is room, with the same scale along both axes.
function paintArrows({ context, width, height }, { token, added }, colours) {
  const end = [token[0] + added[0], token[1] + added[1]];
  const [xs, ys] = [0, 1].map((axis) => [0, token[axis], end[axis]]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((width - 2 * AROUND) / (right - left || 1), (height - 2 * AROUND) / (high - low || 1));
  const place = ([x, y]) => [
    width / 2 + (x - (left + right) / 2) * scale,
    height / 2 - (y - (low + high) / 2) * scale, // up is positive
  ];
  const [zero, before, after] = [[0, 0], token, end].map(place);
  arrow(context, zero, before, colours[0], 4);
  arrow(context, before, after, colours[1], 4);
  arrow(context, zero, after, colours[2], 2);
}

function arrow(context, [x0, y0], [x1, y1], colour, thick) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const head = Math.min(HEAD, length);
  const [dx, dy] = [((x1 - x0) / length) * head, ((y1 - y0) / length) * head];
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = thick;
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

export default function (component) {
  return keepDrawing(component, createPush);
}
