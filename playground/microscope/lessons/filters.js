// Shows the filters of the patch embedding as pictures, and the outputs of the filter under the cursor on every patch.
// data: what `packed_filters` of playground/lessons/patches.py packs. Sends "filter".

import { decodeHalves, openContainer } from "../core/core.js";
import { fillHeat, makeHeat, outlineCell, outlinePatch, pixelSheet } from "../drawing/dom.js";
import { markedWords } from "../drawing/listing.js";
import { lessonDrawing, sheetOf, signedPalette, spotOf } from "../drawing/stage.js";
import { bringBitmap, followPointer, heightFor } from "./patch.js";

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
  const state = Object.seal({
    stage,
    ...stage.refs,
    id: null, //          identifies the filters and the picture
    data: null, //        the data
    sheet: null, //       a canvas with all filters
    filter: 0, //         the filter whose outputs are shown
    bitmap: null,
  });
  const choose = (filter) => {
    if (filter < 0 || filter >= state.data.titles.length || filter === state.filter) return;
    state.filter = filter;
    stage.tell("filter", String(filter));
    stage.redraw();
  };
  followPointer(state.grid, (event) => {
    const [x, y] = spotOf(event, state.grid),
      { columns, step } = layoutOf(state);
    const column = Math.floor(x / step);
    if (column < columns) choose(Math.floor(y / step) * columns + column);
  });
  state.grid.addEventListener("keydown", (event) => {
    const { columns } = layoutOf(state);
    const change = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (!change) return;
    event.preventDefault();
    choose(state.filter + change);
  });
  return {
    take: (data) => takeFilters(state, data),
    paint: (theme) => state.data && paintFilters(state, theme),
    read: () => ({ chosen: state.filter, title: state.data.titles[state.filter], count: state.data.titles.length }),
  };
}

function takeFilters(state, data) {
  const { header, section } = openContainer(data);
  const isNew = state.id !== header.id;
  state.filter = Math.min(header.filter, header.titles.length - 1);
  if (!isNew) return;
  state.id = header.id;
  state.data = { ...header, pictures: section("pictures"), answers: decodeHalves(section("answers")) };
  const { patch, titles, pictures } = state.data;
  state.sheet = pixelSheet(patch, patch * titles.length, pictures); // all filters, one below the other
  bringBitmap(state, section("image"));
}

function layoutOf(state) {
  const columns = state.data.titles.length > 40 ? 12 : 7;
  return { columns, step: state.grid.clientWidth / columns, rows: Math.ceil(state.data.titles.length / columns) };
}

function paintFilters(state, theme) {
  const { columns, step, rows } = layoutOf(state),
    { patch, titles } = state.data;
  const { context } = sheetOf(state.grid, Math.ceil(step * rows) + 2);
  context.imageSmoothingEnabled = false;
  const cornerOf = (i) => [(i % columns) * step + 1.5, Math.floor(i / columns) * step + 1.5];
  for (let i = 0; i < titles.length; i++)
    context.drawImage(state.sheet, 0, i * patch, patch, patch, ...cornerOf(i), step - 3, step - 3);
  outlineCell(context, ...cornerOf(state.filter), step - 3, step - 3, 1);
  state.stage.find("count").textContent = state.data.caption;
  paintAnswers(state, theme);
}

function paintAnswers(state, theme) {
  const { grid, size, answers, titles, patch, place } = state.data;
  const [rows, columns] = grid;
  const { context, width: w, height: h } = sheetOf(state.picture, heightFor(state.picture, size));
  const values = answers.subarray(state.filter * rows * columns, (state.filter + 1) * rows * columns);
  const largest = values.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-12);
  const heat = makeHeat(rows, columns);
  fillHeat(heat, values, 0, signedPalette(theme.dark), { low: -largest, high: largest });
  context.imageSmoothingEnabled = false;
  context.drawImage(heat.canvas, 0, 0, w, h);
  context.imageSmoothingEnabled = true;
  context.globalAlpha = 0.35;
  context.globalCompositeOperation = "luminosity";
  if (state.bitmap) context.drawImage(state.bitmap, 0, 0, w, h);
  context.globalCompositeOperation = "source-over";
  context.globalAlpha = 1;
  outlinePatch(context, place[0] * columns + place[1], grid, w, h);
  context.imageSmoothingEnabled = false;
  const side = Math.min(96, w / 3.4);
  const enlarged = [w - side - 8, 8, side, side];
  context.drawImage(state.sheet, 0, state.filter * patch, patch, patch, ...enlarged);
  outlineCell(context, ...enlarged, 1);
  state.stage.find("sum").innerHTML =
    `<b>${titles[state.filter]}</b>: teal where the patch looks like the filter, ` +
    `brown where it looks like its opposite (up to ±${largest.toFixed(2)}).`;
  const { channels, says: template } = state.data;
  const markup = template.replace(/\{(\w+)\}/g, (_, name) => channels[state.filter][name]);
  state.stage.find("channels").innerHTML = markedWords(markup);
}

export default lessonDrawing(createFilters, MARKUP);
