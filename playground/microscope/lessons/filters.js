// The filters of the patch embedding as pictures. The one under the cursor is applied to every patch of the picture.
//
// data: bytes, a container whose header says id, patch, grid, size, titles, caption, filter: the chosen one; place: the
// patch of which `says` speaks with the `channels` of each filter, {number, red, green, blue, bias, whole}, or null;
// and whose sections are pictures (uint8, n × P × P × 3), answers (float16, n × patches) and image (JPEG). Out goes the
// setting "filter".

import { decodeHalves, openContainer } from "../core/core.js";
import { decodeJpeg, fillHeat, makeCanvas, makeHeat, outlineCell } from "../drawing/dom.js";
import { makePhoto } from "../drawing/light.js";
import { markedWords } from "../drawing/listing.js";
import { keepDrawing, sheetOf, signedPalette, spotOf } from "../drawing/stage.js";

const MARKUP = `
  <div class="pair">
    <figure>
      <figcaption><b data-ref="count"></b> <span>grey is zero</span></figcaption>
      <canvas data-ref="grid" tabindex="0" role="img" aria-label="The filters. The arrow keys choose one."></canvas>
    </figure>
    <figure>
      <figcaption><b>What it answers, patch by patch</b></figcaption>
      <canvas data-ref="picture" role="img" aria-label="The chosen filter's answer at every patch"></canvas>
      <p class="sum" data-ref="sum" aria-live="polite"></p>
    </figure>
  </div>
  <p class="sum" data-ref="channels"></p>`;

function createFilters(stage) {
  stage.root.innerHTML = MARKUP;
  const it = Object.seal({
    stage,
    grid: stage.find("grid"),
    picture: stage.find("picture"),
    id: null, //          of the filters and the picture
    set: null, //         what came in
    sheet: null, //       a canvas with all filters
    chosen: 0, //         the filter whose answers are shown
    bitmap: null,
    photo: null,
    heat: null,
  });
  const choose = (filter) => {
    if (filter < 0 || filter >= it.set.titles.length || filter === it.chosen) return;
    it.chosen = filter;
    stage.tell("filter", String(filter));
    stage.redraw();
  };
  const point = (event) => {
    const [x, y] = spotOf(event, it.grid),
      { columns, step } = layoutOf(it);
    const column = Math.floor(x / step);
    if (column < columns) choose(Math.floor(y / step) * columns + column);
  };
  it.grid.addEventListener("pointermove", point);
  it.grid.addEventListener("pointerdown", point);
  it.grid.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -layoutOf(it).columns, ArrowDown: layoutOf(it).columns }[
      event.key
    ];
    if (!step) return;
    event.preventDefault();
    choose(it.chosen + step);
  });
  return {
    take: (data) => takeFilters(it, data),
    paint: (theme) => it.set && paintFilters(it, theme),
    read: () => ({ chosen: it.chosen, title: it.set.titles[it.chosen], count: it.set.titles.length }),
  };
}

function takeFilters(it, data) {
  const { header, section } = openContainer(data);
  const fresh = it.id !== header.id;
  if (it.stage.heeds("filter", String(header.filter)) || fresh)
    it.chosen = Math.min(header.filter, header.titles.length - 1);
  if (!fresh) return;
  it.id = header.id;
  it.set = { ...header, pictures: section("pictures"), answers: decodeHalves(section("answers")) };
  it.sheet = sheetOfFilters(it.set);
  it.photo = null;
  decodeJpeg(section("image")).then((bitmap) => {
    it.bitmap = bitmap;
    it.photo = null;
    it.stage.redraw();
  });
}

// All filters on one canvas, one below the other.
function sheetOfFilters({ pictures, patch, titles }) {
  const canvas = makeCanvas(patch, patch * titles.length),
    context = canvas.getContext("2d");
  const data = context.createImageData(patch, patch * titles.length);
  for (let i = 0; i < patch * patch * titles.length; i++)
    data.data.set([pictures[3 * i], pictures[3 * i + 1], pictures[3 * i + 2], 255], 4 * i);
  context.putImageData(data, 0, 0);
  return canvas;
}

function layoutOf(it) {
  const columns = it.set.titles.length > 40 ? 12 : 7;
  return { columns, step: it.grid.clientWidth / columns, rows: Math.ceil(it.set.titles.length / columns) };
}

function paintFilters(it, theme) {
  const { columns, step, rows } = layoutOf(it),
    { patch, titles } = it.set;
  const { context } = sheetOf(it.grid, Math.ceil(step * rows) + 2);
  context.imageSmoothingEnabled = false;
  const place = (i) => [(i % columns) * step + 1.5, Math.floor(i / columns) * step + 1.5];
  for (let i = 0; i < titles.length; i++)
    context.drawImage(it.sheet, 0, i * patch, patch, patch, ...place(i), step - 3, step - 3);
  outlineCell(context, ...place(it.chosen), step - 3, step - 3, 1);
  it.stage.find("count").textContent = it.set.caption;
  paintAnswers(it, theme);
}

function paintAnswers(it, theme) {
  const {
    grid: [rows, columns],
    size: [height, width],
    answers,
    titles,
    patch,
  } = it.set;
  const {
    context,
    width: w,
    height: h,
    ratio,
  } = sheetOf(it.picture, Math.round((it.picture.clientWidth * height) / width));
  if (it.photo?.width !== it.picture.width) it.photo = makePhoto(it.bitmap, w * ratio, h * ratio);
  const values = answers.subarray(it.chosen * rows * columns, (it.chosen + 1) * rows * columns);
  const most = values.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-12);
  if (!it.heat || it.heat.rows !== rows || it.heat.columns !== columns) it.heat = makeHeat(rows, columns);
  fillHeat(it.heat, values, 0, signedPalette(theme.dark), { low: -most, high: most, log: false });
  context.imageSmoothingEnabled = false;
  context.drawImage(it.heat.canvas, 0, 0, w, h);
  context.globalAlpha = 0.35;
  context.globalCompositeOperation = "luminosity";
  context.drawImage(it.photo.clear, 0, 0, w, h);
  context.globalCompositeOperation = "source-over";
  context.globalAlpha = 1;
  if (it.set.place) {
    const [row, column] = it.set.place;
    outlineCell(context, (column * w) / columns, (row * h) / rows, w / columns, h / rows, 1);
  }
  const side = Math.min(96, w / 3.4);
  context.drawImage(it.sheet, 0, it.chosen * patch, patch, patch, w - side - 8, 8, side, side);
  outlineCell(context, w - side - 8, 8, side, side, 1);
  it.stage.find("sum").innerHTML =
    `<b>${titles[it.chosen]}</b>: teal where the patch looks like the filter, ` +
    `brown where it looks like its opposite (up to ±${most.toFixed(2)}).`;
  const { channels, says } = it.set;
  const filled = channels && says.replace(/\{(\w+)\}/g, (_, name) => channels[it.chosen][name]);
  it.stage.find("channels").innerHTML = filled ? markedWords(filled) : "";
}

export default function (component) {
  return keepDrawing(component, createFilters);
}
