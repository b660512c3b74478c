// Attention in windows, as Swin has it: what a patch has heard of after some layers, if the windows shift and if not.
// data: what `windows` of subject.js makes, and the settings spot, deep and shifts, which the drawing sends.

import { ROLES } from "../core/colours.js";
import { openContainer } from "../core/core.js";
import { heardInWindows, patchFrom, patchText } from "../core/grid.js";
import { outlinePatch } from "../drawing/dom.js";
import { makePhoto, softOf } from "../drawing/light.js";
import { lessonDrawing, sheetOf } from "../drawing/stage.js";
import { bringBitmap, followPatches, heightFor } from "./patch.js";

const buttonOf = (name, value, words) => `<button data-set="${name}" data-to="${value}">${words}</button>`;
const MARKUP = `
  <div class="pair">
    <figure>
      <figcaption><b>What this patch has heard of</b> <span data-ref="which"></span></figcaption>
      <canvas data-ref="picture" tabindex="0" role="img"
          aria-label="The picture in windows. The arrow keys choose a patch."></canvas>
    </figure>
    <div>
      <p class="tabs">Layers ${[1, 2, 3, 4, 5, 6].map((n) => buttonOf("deep", n, n)).join("")}</p>
      <p class="tabs">${buttonOf("shifts", "yes", "Every second layer shifts")}
        ${buttonOf("shifts", "no", "No layer shifts")}</p>
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
  };
}

const heardNow = ({ at, header: { grid, window, deep, shifts } }, layers = Number(deep)) =>
  heardInWindows(at, grid, window, layers, shifts === "yes");
/** @param {number[]} box */
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
  for (let edge = isShifted ? window / 2 : window; edge < Math.max(...grid); edge += window) {
    context.rect(0, edge * ch, width, 0);
    context.rect(edge * cw, 0, 0, height);
  }
  Object.assign(context, { strokeStyle: "#fff", lineWidth: 1, shadowColor: "#000", shadowBlur: 3 });
  context.stroke();
  Object.assign(context, { strokeStyle: ROLES.key, lineWidth: 3 });
  context.strokeRect(...box);
  context.shadowBlur = 0;
  outlinePatch(context, at, grid, width, height);
  for (const button of stage.root.querySelectorAll("[data-set]"))
    button.setAttribute("aria-pressed", String(String(header[button.dataset.set]) === button.dataset.to));
  stage.find("which").textContent = `windows of the last layer${isShifted ? ", shifted" : ""}`;
  const [all, count] = [grid[0] * grid[1], countOf(heard)];
  const needed = Array.from({ length: all }, (_, n) => n + 1).find((n) => countOf(heardNow(state, n)) === all);
  stage.find("sum").innerHTML =
    `<b>Patch ${patchText(at, grid[1])}</b> has heard of ${count} of ${all} patches; ` +
    `${all - count} it cannot know of. ` +
    `All of them: ${needed ? `after <b>${needed}</b> layers` : "<b>never</b>"}; with full attention, after one.`;
}

export default lessonDrawing(createWindows, MARKUP);
