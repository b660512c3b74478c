// The moments of a picture, at See's foot: at most five that were found in it, and a surprise. One press chooses a
// moment's layer, head and patch.

import { ownExposure } from "../core/answers.js";
import { holdsHead, rowInto } from "../core/core.js";
import { patchText } from "../core/grid.js";
import { surprisesOf } from "../core/moments.js";
import { FIRST_WAY } from "../core/ways.js";
import { fitCanvas, oneStop } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { photoOf } from "../lens/layout.js";
import { sceneOf, surprise } from "../lens/moment.js";
import { outsideNine, partAt, whereOf } from "./says.js";
import { PART_NAMES, seeWords } from "./words.js";

const MOMENT_SIZE = { width: 102, height: 70 }; // px, where there is room for them; 64 × 44 elsewhere

// `hold(true)`: acts as if the picture were pointed at.
export function createMoments({ choice, data, frame, page }, row, { language, hold }) {
  const words = (key, filled) => seeWords(language(), key, filled);
  const moments = { scene: null, list: [], buttons: [] };
  let opening = null; // {layer, head, patch} at which the picture opened
  row.setAttribute("role", "group");
  oneStop(row, () => [...row.children]);

  function show(isRow) {
    const { main } = data;
    const { view } = choice;
    const scene = sceneOf(data);
    if (main.trace.words?.first) return; // a coarse trace; moments are searched in the finer one
    const key = [main.picture.id, main.trace.model, main.pack.rows, main.pack.columns].join(" ");
    if (opening?.of !== key) {
      const patch = view.what === FIRST_WAY ? frame.shown.mark : -1; // without a striking moment it opens without a row
      opening = { of: key, layer: view.layer, head: view.head, patch };
      Object.assign(moments, { scene: null, list: [] });
      row.replaceChildren();
    }
    if (scene && moments.scene !== scene) {
      const { layer, head, patch } = opening;
      const opened = patch >= 0 && holdsHead(scene.pack, layer, head) ? { layer, head, patch } : null;
      Object.assign(moments, { scene, list: momentsOf(scene, opened) });
      fillMoments();
    }
    for (const [i, button] of moments.buttons.entries()) {
      const one = moments.list[i];
      const chosen = one && one.layer === view.layer && one.head === view.head && one.patch === frame.shown.mark;
      button.setAttribute("aria-pressed", String(Boolean(chosen) && isRow));
    }
  }

  function fillMoments() {
    const { pack } = moments.scene;
    const parts = data.main.picture.parts ?? [];
    const photo = makePhoto(photoOf(data, frame, page, data.main).image, ...coverSize(pack));
    moments.buttons = moments.list.map((one, i) => {
      const name = momentName(one, pack, parts, PART_NAMES[language()], words);
      const says = words("momentSays", { name, layer: one.layer, head: pack.headNumbers[one.head] });
      const button = momentButton(name, says);
      if (one.kind === "sink") {
        button.title = "";
        button.dataset.explains = `${words("sinkMeans", { share: 100 * IN_A_SINK })} ${says}`;
      }
      drawThumb(button.firstChild, photo, pack, one);
      button.addEventListener("click", () => goTo(i));
      return button;
    });
    const more = momentButton(words("surprise"), words("surprise"));
    more.classList.add("surprise");
    more.firstChild.remove();
    more.addEventListener("click", () => {
      hold(true);
      surprise(choice, data, page);
      if (choice.view.locked) page.choose({ locked: false });
    });
    row.replaceChildren(...moments.buttons, more);
    for (const [i, button] of [...row.children].entries()) button.tabIndex = i ? -1 : 0;
  }

  function goTo(i) {
    const { list, scene } = moments;
    const { layer, head, patch } = list[i];
    hold(true);
    choice.hover = -1;
    const query = patchText(patch, scene.pack.columns);
    page.choose({ what: FIRST_WAY, direction: "row", layer, head, query, locked: false });
  }

  // A presenter's keys: next or former moment. False where there is none.
  function step(by) {
    const pressed = moments.buttons.findIndex((one) => one.getAttribute("aria-pressed") === "true");
    const to = pressed < 0 && by < 0 ? moments.list.length - 1 : pressed + by;
    if (!moments.list[to]) return moments.list.length > 0;
    goTo(to);
    return true;
  }

  // A thumbnail cut from the picture, with the row's patch and its brightest one in it.
  function drawThumb(canvas, photo, pack, { layer, head, patch, best }) {
    const values = new Float32Array(pack.tokens);
    rowInto(values, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
    const print = makePrint(photo);
    const domain = ownExposure(values, 0, pack, FIRST_WAY, "auto", false);
    printHeat(print, values, pack.prefixCount, pack.rows, pack.columns, domain);
    fitCanvas(canvas, MOMENT_SIZE.width, MOMENT_SIZE.height, frame.ratio);
    const [w, h] = [canvas.width, canvas.height];
    const middle = (at, across, size, cut) => Math.min(size - cut, Math.max(0, ((at + 0.5) / across) * size - cut / 2));
    const column = ((patch % pack.columns) + (best % pack.columns)) / 2;
    const line = (Math.floor(patch / pack.columns) + Math.floor(best / pack.columns)) / 2;
    const [x, y] = [middle(column, pack.columns, photo.width, w), middle(line, pack.rows, photo.height, h)];
    canvas.getContext("2d").drawImage(print.canvas, x, y, w, h, 0, 0, w, h);
  }

  const coverSize = ({ rows, columns }) => {
    const factor = Math.max(MOMENT_SIZE.width / columns, MOMENT_SIZE.height / rows) * frame.ratio;
    return [columns * factor, rows * factor];
  };

  return { show, step, writeWords: () => row.setAttribute("aria-label", words("moments")) };
}

function momentButton(name, says) {
  const button = document.createElement("button");
  const label = document.createElement("span");
  button.type = "button";
  label.textContent = name;
  button.title = says;
  button.append(document.createElement("canvas"), label);
  return button;
}

// The moments of a picture, at most five: what the search found far away, a row that stays near, and a sink. No DOM in
// here.

const FAR_ONES = 3;
const CLOSE = 3; // patches apart at which two places count as the same
const STAYS_NEAR = 0.35; // share of a row within the 3 × 3 places that makes it near
const IN_A_SINK = 0.3; // share of a row on one token that makes it a sink

// [{kind: "far" | "near" | "sink" | "same", layer, head, patch, best}], the opening one first. scene: what
// core/moments.js found; opening: {layer, head, patch} as the picture opened.
export function momentsOf(scene, opening) {
  const { pack } = scene;
  const candidates = [opening, ...surprisesOf(scene, 8)]
    .filter(Boolean)
    .map((one) => described(pack, one))
    .filter(({ kind }) => kind !== "itself");
  const chosen = [];
  for (const one of candidates) {
    const again = chosen.some(
      ({ patch, best }) =>
        (near(pack, patch, one.patch) && near(pack, best, one.best)) ||
        (near(pack, patch, one.best) && near(pack, best, one.patch)), // a pair and its reverse are one moment
    );
    if (!again && chosen.length < FAR_ONES) chosen.push(one);
  }
  const patch = chosen[0]?.patch ?? opening?.patch ?? Math.floor(pack.patches / 2);
  const others = [
    strongest(pack, patch, nearShare, STAYS_NEAR, "near"),
    strongest(pack, patch, sinkShare, IN_A_SINK, "sink"),
  ];
  return [...chosen, ...others.filter(Boolean)].slice(0, 5);
}

const near = ({ columns }, one, other) =>
  Math.abs(Math.floor(one / columns) - Math.floor(other / columns)) <= CLOSE &&
  Math.abs((one % columns) - (other % columns)) <= CLOSE;

function trainedRow(pack, layer, head, patch) {
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
  return row;
}

function largestPatch(row, { prefixCount, tokens }) {
  let best = prefixCount;
  for (let j = prefixCount; j < tokens; j++) if (row[j] > row[best]) best = j;
  return best - prefixCount;
}

function described(pack, { layer, head, patch }) {
  const best = largestPatch(trainedRow(pack, layer, head, patch), pack);
  const where = whereOf(patch, best, pack.rows, pack.columns);
  return { kind: where === "aside" ? "same" : where, layer, head, patch, best };
}

const nearShare = (row, pack, patch) => 1 - outsideNine(row, 0, pack, patch);
function sinkShare(row, { prefixCount }) {
  let most = 0;
  for (let j = 0; j < prefixCount; j++) most = Math.max(most, row[j]);
  return most;
}

// The loaded head in which this patch's row has its largest share; null if none is large enough.
function strongest(pack, patch, shareOf, least, kind) {
  let best = null;
  for (const layer of pack.stored.keys()) {
    for (let head = 0; head < pack.heads; head++) {
      if (!holdsHead(pack, layer, head)) continue;
      const row = trainedRow(pack, layer, head, patch);
      const share = shareOf(row, pack, patch);
      if (share >= (best?.share ?? least)) best = { share, kind, layer, head, patch, best: largestPatch(row, pack) };
    }
  }
  return best;
}

// "eye → eye" where the sample names both places; else the kind's own word.
export function momentName({ kind, patch, best }, { rows, columns }, parts, names, wordOf) {
  const [from, to] = [partAt(parts, patch, rows, columns), partAt(parts, best, rows, columns)];
  if (from && to && ["far", "same"].includes(kind))
    return wordOf("momentParts", { from: names[from.kind].short, to: names[to.kind].short });
  return wordOf({ far: "momentFar", near: "momentNear", sink: "momentSink", same: "momentSame" }[kind]);
}
