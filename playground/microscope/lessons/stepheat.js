// The numbers of one step as colours: a group for each tensor, in it a panel for each head. `walk` is the state of
// steps.js.

import { MAGMA } from "../core/magma.js";
import { formulaHtml } from "../drawing/listing.js";

const TINTS = { query: [0, 114, 178], key: [213, 94, 0], value: [0, 158, 115], plain: [122, 81, 190] };

export function drawStep(walk, step) {
  const heat = walk.root.querySelector(".heat");
  walk.width = heat.clientWidth;
  const whole = step.shape[step.shape.length - 1];
  const square = step.axes[step.axes.length - 1] === "tokens";
  const { panels, rows, columns } = step.groups[0];
  const lies = step.joined ? panels * columns : columns;
  heat.className = `heat ${square ? "square" : ""} ${step.joined ? "joined" : "apart"}`;
  const operators = step.name === "Skip" ? ["", "+", "="] : [];
  const height = `<b>${some(rows, walk.numbers.tokens)}</b> tokens${square ? " ask" : ""}`;
  const down = `<span class="axis tokens down">${height}</span>`;
  const last = step.axes[step.axes.length - 1];
  const inHeads = step.axes.includes("heads")
    ? ` <span class="axis heads">in <b>${some(panels, walk.numbers.heads)}</b> heads</span>`
    : "";
  const width = `<b>${some(lies, whole)}</b> ${square ? "tokens are asked" : formulaHtml(last)}`;
  const across = `<span class="across"><span class="axis ${last}">${width}</span>${inHeads}</span>`;
  heat.innerHTML =
    down +
    step.groups
      .map(
        (group, g) =>
          `<div class="group" data-group="${g}">${label(group, operators[g])}<div class="panels"></div></div>`,
      )
      .join("") +
    across;
  walk.drawn = step.groups.map((group, g) =>
    drawGroup(walk, step, group, heat.querySelector(`[data-group="${g}"] .panels`), square),
  );
  const dark = isDark(walk.root);
  const bar = walk.root.querySelector(".bar");
  const ramp = Float32Array.from({ length: 64 }, (_, i) =>
    isWeight(step) ? (i / 63) * step.end : (i / 31.5 - 1) * step.end,
  );
  paint(bar, ramp, 0, 1, 64, step.groups[0].role, step.end, dark);
  const first = walk.numbers.batch > 1 ? `the first of ${walk.numbers.batch} · ` : "";
  walk.root.querySelector(".range").textContent = `${first}numbers from ${nice(step.low)} to ${nice(step.high)}`;
  walk.root.querySelector(".end").textContent = `${isWeight(step) ? "0 …" : "±"} ${nice(step.end)}`;
  requestAnimationFrame(() => heat.classList.add("settled")); // animates the gaps between heads
}

const isWeight = (step) => step.groups[0].role === "weight";
const some = (shown, all) => (shown < all ? `${shown} of ${all}` : `${all}`);

function label({ name, role }, operator) {
  const named = operator || ["x", "Q", "K", "V", "A V"].includes(name);
  return `<span class="name ${role}">${operator ? `<em>${operator}</em>` : ""}${named ? name : ""}</span>`;
}

function drawGroup(walk, step, group, place, square) {
  const values = walk.values(group.section);
  const dark = isDark(walk.root);
  const size = group.rows * group.columns;
  if (square) place.style.setProperty("--side", `${squareSide(place, group.panels)}px`);
  const canvases = Array.from({ length: group.panels }, (_, head) => {
    const panel = document.createElement("div");
    panel.className = "panel";
    panel.dataset.head = head;
    const canvas = document.createElement("canvas");
    canvas.width = group.columns;
    canvas.height = group.rows;
    paint(canvas, values, head * size, group.rows, group.columns, group.role, step.end, dark);
    const band = document.createElement("u"),
      cell = document.createElement("s");
    panel.append(canvas, band, cell);
    place.append(panel);
    return panel;
  });
  return { group, values, panels: canvases };
}

// The side of the largest equal squares of which `count` fit.
function squareSide(place, count) {
  const room = place.getBoundingClientRect(); // clientWidth rounds up, and the last square of a row would not fit
  const width = Math.floor(room.width),
    height = Math.floor(room.height),
    gap = 6;
  let best = 0;
  for (let across = 1; across <= count; across++) {
    const down = Math.ceil(count / across);
    best = Math.max(best, Math.min((width - gap * (across - 1)) / across, (height - gap * (down - 1)) / down));
  }
  return Math.floor(best);
}

// ----------------------------------------------------------------------------------------------------------- colours

const isDark = (root) => {
  const parts = getComputedStyle(root)
    .backgroundColor.match(/[\d.]+/g)
    ?.map(Number) ?? [255, 255, 255];
  return parts[0] + parts[1] + parts[2] < 384;
};

// Signed numbers: the role's colour above zero, grey below, paper at zero. Weights: magma.
function paint(canvas, values, at, rows, columns, role, end, dark) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  const zero = dark ? [30, 30, 37] : [247, 247, 249];
  const below = dark ? [214, 214, 222] : [62, 62, 70];
  const above = role === "weight" ? null : TINTS[role].map((c) => (dark ? Math.round(c + (255 - c) * 0.2) : c));
  for (let i = 0; i < rows * columns; i++) {
    const t = Math.max(-1, Math.min(1, values[at + i] / end));
    for (let c = 0; c < 3; c++) {
      const goal = t < 0 ? below : above;
      image.data[4 * i + c] =
        role === "weight"
          ? MAGMA[3 * Math.round(255 * Math.max(0, t)) + c]
          : zero[c] + (goal[c] - zero[c]) * Math.abs(t);
    }
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

export const nice = (x) => {
  const text = Math.abs(x) >= 100 ? x.toFixed(0) : Math.abs(x) >= 0.1 || x === 0 ? x.toFixed(2) : x.toPrecision(2);
  return text.replace("-", "−");
};
