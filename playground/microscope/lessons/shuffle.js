// The same patches in two orders, and the attention of the patch under the cursor in both: without positions it goes to
// the same patches.
//
// data: bytes, a pack (see core/core.js) whose layer 0 is the pass in order and whose layer 1 the shuffled one, with
// the section "image" (JPEG) and in its header id, places: which patch lies at each of them, order: the
// number of this order, orders: how many there are, asker: "row,column" or "". Out go the settings "asker" and "order".

import { openContainer, rowInto, unpack } from "../core/core.js";
import { patchAfterKey, patchFrom, patchText } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { decodeJpeg, makeCanvas, outlineCell } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat, softOf } from "../drawing/light.js";
import { eased, keepDrawing, sheetOf, spotOf } from "../drawing/stage.js";

const MARKUP = `
  <div class="three">
    <figure><figcaption><b>In order</b></figcaption><canvas data-ref="before" tabindex="0" role="img"
        aria-label="The picture. The arrow keys choose a patch."></canvas></figure>
    <figure><figcaption><b>Shuffled</b></figcaption><canvas data-ref="after" role="img"
        aria-label="Its patches in another order"></canvas></figure>
    <figure><figcaption><b>Shuffled, put back</b> <span>to compare</span></figcaption><canvas data-ref="back" role="img"
        aria-label="The shuffled attention, each patch back in its place"></canvas></figure>
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>
  <p class="buttons"><button data-ref="again">Shuffle again</button></p>`;

function createShuffle(stage) {
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    canvases: ["before", "after", "back"].map(stage.find),
    id: null, //          of the picture, the order and the positions
    pack: null,
    bitmap: null,
    photo: null,
    shuffled: null, // the photograph with its patches in the order of the second pass
    prints: [],
    heat: null,
    at: 0, //             the patch that asks
    moved: 1, //          how far the patches are on their way to their new places, 0 to 1
    stop: () => {}, //    ends this way
  });
  const choose = (at) => {
    if (at === it.at || !(at >= 0)) return;
    it.at = at;
    stage.tell("asker", patchText(at, it.pack.columns));
    stage.redraw();
  };
  stage.find("again").addEventListener("click", () => {
    const { order, orders } = it.pack.header;
    stage.tell("order", String((Number(order) % orders) + 1));
  });
  it.canvases.forEach((canvas, which) => {
    const point = (event) => {
      const [x, y] = spotOf(event, canvas),
        { rows, columns } = it.pack;
      const row = Math.floor((y / canvas.clientHeight) * rows),
        column = Math.floor((x / canvas.clientWidth) * columns);
      if (row < 0 || column < 0 || row >= rows || column >= columns) return;
      const place = row * columns + column;
      choose(which === 1 ? it.pack.header.places[place] : place);
    };
    canvas.addEventListener("pointermove", point);
    canvas.addEventListener("pointerdown", point);
  });
  it.canvases[0].addEventListener("keydown", (event) => {
    const next = patchAfterKey(event.key, it.at, it.pack.rows, it.pack.columns);
    if (next < 0) return;
    event.preventDefault();
    choose(next);
  });
  return {
    take: (data) => takeShuffle(it, data),
    paint: (theme) => it.pack && paintShuffle(it, theme),
    read: () => ({
      at: it.at,
      before: Array.from(meanRow(it, 0)),
      after: Array.from(meanRow(it, 1)),
      order: it.pack.header.places,
      id: it.id,
    }),
  };
}

function takeShuffle(it, data) {
  const { header, section } = openContainer(data);
  const fresh = it.id !== header.id;
  const before = it.pack?.header.places;
  it.pack = unpack(data);
  if (it.stage.heeds("asker", header.asker) || !before || before.length !== header.places.length)
    it.at = patchFrom(header.asker, it.pack.rows, it.pack.columns);
  if (!fresh) return;
  it.id = header.id;
  decodeJpeg(section("image")).then((bitmap) => {
    it.bitmap = bitmap;
    it.photo = null;
    it.stage.redraw();
  });
  if (String(before) === String(header.places)) return; // only the positions were switched
  it.stop();
  it.moved = 0;
  it.stop = it.stage.moves(1100, (t) => {
    it.moved = t;
    it.stage.redraw();
  });
}

// The mean of all heads' rows, in the order of the tokens in that pass.
function meanRow(it, pass) {
  const { pack } = it,
    { places: order } = pack.header;
  const token = pack.prefixCount + (pass ? order.indexOf(it.at) : it.at);
  const row = new Float32Array(pack.tokens),
    mean = new Float32Array(pack.tokens);
  for (let head = 0; head < pack.heads; head++) {
    rowInto(row, 0, pack, pass, head, token, pack.scale);
    for (let j = 0; j < pack.tokens; j++) mean[j] += row[j] / pack.heads;
  }
  return mean;
}

function paintShuffle(it) {
  const { pack } = it,
    { places: order, size } = pack.header,
    { rows, columns, prefixCount } = pack;
  const before = meanRow(it, 0),
    after = meanRow(it, 1),
    back = new Float32Array(pack.patches);
  order.forEach((patch, place) => (back[patch] = after[prefixCount + place]));
  const domain = { low: 0, high: exposure(before, prefixCount, pack.tokens), log: false };
  const height = Math.round((it.canvases[0].clientWidth * size[0]) / size[1]);
  const sheets = it.canvases.map((canvas) => sheetOf(canvas, height));
  const { width: w, ratio } = sheets[0];
  if (it.photo?.width !== it.canvases[0].width) preparePhotos(it, w * ratio, height * ratio);
  const cw = w / columns,
    ch = height / rows;
  const show = (i, values, from, place) => {
    printHeat(it.prints[i], values, from, rows, columns, domain);
    sheets[i].context.drawImage(it.prints[i].canvas, 0, 0, w, height);
    outlineCell(sheets[i].context, (place % columns) * cw, Math.floor(place / columns) * ch, cw, ch, 1);
  };
  show(0, before, prefixCount, it.at);
  if (it.moved >= 1) {
    show(1, after, prefixCount, order.indexOf(it.at));
    show(2, back, 0, it.at);
  } else {
    paintMoved(it, sheets[1].context, w, height, it.photo.clear, eased(it.moved));
    sheets[2].context.drawImage(softOf(it.photo), 0, 0, w, height);
  }
  writeShuffle(it, before, back);
}

function preparePhotos(it, width, height) {
  it.photo = makePhoto(it.bitmap, width, height);
  const moved = makeCanvas(width, height);
  paintMoved(it, moved.getContext("2d"), moved.width, moved.height, it.photo.clear, 1);
  it.shuffled = makePhoto(moved, width, height);
  it.prints = [it.photo, it.shuffled, it.photo].map((photo) => makePrint(photo));
}

// Every patch on its way from its old place to its new one.
function paintMoved(it, context, w, h, picture, t) {
  const { rows, columns } = it.pack,
    cw = w / columns,
    ch = h / rows;
  const sw = picture.width / columns,
    sh = picture.height / rows;
  it.pack.header.places.forEach((patch, place) => {
    const along = (from, to) => from + (to - from) * t;
    const x = along(patch % columns, place % columns) * cw,
      y = along(Math.floor(patch / columns), Math.floor(place / columns)) * ch;
    context.drawImage(
      picture,
      (patch % columns) * sw,
      Math.floor(patch / columns) * sh,
      sw,
      sh,
      x,
      y,
      cw + 0.4,
      ch + 0.4,
    );
  });
}

function writeShuffle(it, before, back) {
  const { pack } = it;
  let apart = 0;
  for (let i = 0; i < pack.patches; i++) apart += Math.abs(before[pack.prefixCount + i] - back[i]) / 2;
  const place = patchText(it.at, pack.columns);
  const says =
    apart < 0.001
      ? "it listens to the very same patches, wherever they lie"
      : `${(100 * apart).toFixed(1)} % of its weight has gone to other patches`;
  it.stage.find("sum").innerHTML = `<b>Patch ${place}</b>, the mean of ${pack.heads} heads: after shuffling, ${says}.`;
}

export default function (component) {
  return keepDrawing(component, createShuffle);
}
