// Attention in windows, as Swin has it: what a patch has heard of after some layers, if the windows shift and if not.
// data: what `windows` of subject.js makes, and the settings spot, deep and shifts, which the drawing sends.

import { ROLES } from "../core/colours.js";
import { openContainer } from "../core/core.js";
import { heardInWindows, patchFrom, patchText } from "../core/grid.js";
import { outlinePatch } from "../drawing/dom.js";
import { makePhoto, softOf } from "../drawing/light.js";
import { lessonDrawing, sheetOf } from "../drawing/stage.js";
import { bringBitmap, followPatches, heightFor } from "./patch.js";

const MOST_LAYERS = 6;
const MARKUP = `
  <div class="pair">
    <figure>
      <figcaption><b>What this patch has heard of</b> <span data-ref="which"></span></figcaption>
      <canvas data-ref="picture" tabindex="0" role="img"
          aria-label="The picture in windows. The arrow keys choose a patch."></canvas>
    </figure>
    <div>
      <p class="tabs">After layer ${Array.from(
        { length: MOST_LAYERS },
        (_, n) => `<button data-set="deep" data-to="${n + 1}">${n + 1}</button>`,
      ).join("")}</p>
      <p class="tabs"><button data-set="shifts" data-to="yes">Every second layer shifts</button>
        <button data-set="shifts" data-to="no">No layer shifts</button></p>
      <p class="sum" data-ref="sum" aria-live="polite"></p>
    </div>
  </div>`;

function createWindows(stage) {
  const state = Object.seal({ stage, id: null, header: null, bitmap: null, photo: null, at: 0 });
  const { picture } = stage.refs;
  const choose = (patch) => {
    state.at = patch;
    stage.tell("spot", patchText(patch, state.header.grid[1]));
    stage.redraw();
  };
  followPatches(picture, () => ({ at: state.at, grid: state.header.grid }), choose);
  for (const button of stage.root.querySelectorAll("[data-set]"))
    button.addEventListener("click", () => {
      state.header[button.dataset.set] = button.dataset.to;
      stage.tell(button.dataset.set, button.dataset.to);
      stage.redraw();
    });
  return {
    take: (data) => {
      const { header, section } = openContainer(data);
      const isNew = state.id !== header.id;
      Object.assign(state, { id: header.id, header, at: patchFrom(header.spot, ...header.grid) });
      if (isNew) bringBitmap(state, section("image"));
    },
    paint: () => state.bitmap && paintWindows(state),
    read: () => ({ at: state.at, heard: heardNow(state), grid: state.header.grid }),
  };
}

const heardNow = ({ at, header: { grid, window, deep, shifts } }, layers = Number(deep)) =>
  heardInWindows(at, grid, window, layers, shifts === "yes");
const countOf = ([top, left, bottom, right]) => (bottom - top) * (right - left);

function paintWindows(state) {
  const { stage, header, bitmap, at } = state;
  const { grid, window, size, deep, shifts } = header;
  const { picture } = stage.refs;
  const { context, width, height, ratio } = sheetOf(picture, heightFor(picture, size));
  if (state.photo?.image !== bitmap || state.photo.width !== picture.width)
    state.photo = makePhoto(bitmap, width * ratio, height * ratio);
  const [ch, cw] = [height / grid[0], width / grid[1]];
  const heard = heardNow(state);
  const [top, left, bottom, right] = heard;
  const box = [left * cw, top * ch, (right - left) * cw, (bottom - top) * ch];
  context.drawImage(softOf(state.photo), 0, 0, width, height);
  context.drawImage(state.photo.clear, ...box.map((side) => side * ratio), ...box);
  const isShifted = shifts === "yes" && deep % 2 === 0;
  context.beginPath();
  for (let row = isShifted ? window / 2 : window; row < grid[0]; row += window) context.rect(0, row * ch, width, 0);
  for (let column = isShifted ? window / 2 : window; column < grid[1]; column += window)
    context.rect(column * cw, 0, 0, height);
  for (const [colour, lineWidth] of [
    ["rgb(0 0 0 / 0.6)", 3],
    ["#fff", 1],
  ]) {
    Object.assign(context, { strokeStyle: colour, lineWidth });
    context.stroke();
  }
  Object.assign(context, { strokeStyle: ROLES.key, lineWidth: 3 });
  context.strokeRect(...box);
  outlinePatch(context, at, grid, width, height);
  for (const button of stage.root.querySelectorAll("[data-set]"))
    button.setAttribute("aria-pressed", String(String(header[button.dataset.set]) === button.dataset.to));
  stage.find("which").textContent = `windows of layer ${deep}${isShifted ? ", shifted" : ""}`;
  stage.find("sum").innerHTML = heardWords(state, countOf(heard));
}

function heardWords(state, count) {
  const all = state.header.grid[0] * state.header.grid[1];
  const layersOf = (wanted) => {
    for (let layers = 1; layers <= all; layers++) if (countOf(heardNow(state, layers)) >= wanted) return layers;
    return 0;
  };
  const needed = layersOf(all);
  return (
    `<b>Patch ${patchText(state.at, state.header.grid[1])}</b> has heard of ${count} of ${all} patches; ` +
    `${all - count} it cannot know of. All of them: ` +
    `${needed ? `after <b>${needed}</b> layers` : "<b>never</b>"}; with full attention, after one.`
  );
}

export default lessonDrawing(createWindows, MARKUP);
