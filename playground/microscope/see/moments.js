// The row of moments below See's picture: at most five, and a button for a surprise. A moment is a striking row of
// weights; a press on it shows the moment's layer, head and patch.

import { pictureDomain } from "../core/answers.js";
import { holdsHead, layerOf, rowInto } from "../core/core.js";
import { patchText } from "../core/grid.js";
import { carriedBy } from "../core/kinds.js";
import { STRIKING_SCORE, surprisesOf } from "../core/moments.js";
import { FIRST_WAY } from "../core/ways.js";
import { fitCanvas, oneTabStop } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { photoOf } from "../lens/layout.js";
import { sceneOf, surprise } from "../lens/moment.js";
import { outsideShare, partAt, whereOf } from "./says.js";
import { PART_NAMES, seeWords } from "./words.js";

const MOMENT_SIZE = { width: 102, height: 70 }; // px, if there is room; 64 × 44 otherwise

// hold(isHeld): shows the marks as if the pointer were over the picture, or hides them.
export function createMoments({ choice, data, frame, page }, box, { language, hold }) {
  const words = (key, values) => seeWords(language(), key, values);
  const moments = { scene: null, list: [], buttons: [] };
  let openingMoment = null; // {layer, head, patch} at which the picture opened
  box.setAttribute("role", "group");
  oneTabStop(box, () => [...box.children]);

  function showMoments(isPlainRow) {
    const { main } = data;
    const { view } = choice;
    const scene = sceneOf(data);
    const key = [main.picture.id, main.trace.model, main.pack.rows, main.pack.columns].join(" ");
    if (openingMoment?.key !== key) {
      const patch = view.what === FIRST_WAY ? frame.shown.mark : -1; // −1 if the picture opened without a striking row
      openingMoment = { key, layer: view.layer, head: view.head, patch };
      Object.assign(moments, { scene: null, list: [], buttons: [] });
      box.replaceChildren();
    }
    if (main.trace.words?.first) return; // this trace is coarse; moments are searched in the finer one, which follows
    if (scene && moments.scene !== scene) {
      const { layer, head, patch } = openingMoment;
      const shownMoment = patch >= 0 && holdsHead(scene.pack, layer, head) ? { layer, head, patch } : null;
      Object.assign(moments, { scene, list: momentsOf(scene, shownMoment) });
      fillMoments();
    }
    for (const [i, button] of moments.buttons.entries()) {
      const moment = moments.list[i];
      const isShown =
        moment && moment.layer === view.layer && moment.head === view.head && moment.patch === frame.shown.mark;
      button.setAttribute("aria-pressed", String(Boolean(isShown) && isPlainRow));
    }
  }

  function fillMoments() {
    const { pack } = moments.scene;
    const parts = data.main.picture.parts ?? [];
    const photo = makePhoto(photoOf(data, frame, page, data.main).image, ...coverSize(pack));
    moments.buttons = moments.list.map((moment, i) => {
      const name = momentName(moment, pack, parts, PART_NAMES[language()], words);
      const description = words("momentSays", { name, layer: moment.layer, head: pack.headNumbers[moment.head] });
      const button = momentButton(name, description);
      if (moment.kind === "sink") {
        button.title = "";
        const means = [words("sinkMeans", { share: 100 * LEAST_SINK_SHARE }), sinkWords(pack, moment, words)];
        button.dataset.explains = [...means.filter(Boolean), description].join(" ");
      }
      drawThumb(button.firstChild, photo, pack, moment);
      button.addEventListener("click", () => showMoment(i));
      return button;
    });
    const moreButton = momentButton(words("surprise"), words("surprise"));
    moreButton.classList.add("surprise");
    moreButton.firstChild.remove();
    moreButton.addEventListener("click", () => {
      hold(true);
      surprise(choice, data, page);
      if (choice.view.locked) page.choose({ locked: false });
    });
    box.replaceChildren(...moments.buttons, moreButton);
    for (const [i, button] of [...box.children].entries()) button.tabIndex = i ? -1 : 0;
  }

  function showMoment(i) {
    const { list, scene } = moments;
    const { layer, head, patch } = list[i];
    hold(true);
    choice.hover = -1;
    const query = patchText(patch, scene.pack.columns);
    page.choose({ what: FIRST_WAY, direction: "row", layer, head, query, locked: false });
  }

  // Shows the next or former moment, for a presenter's keys. Returns false if the picture has no moments.
  function step(change) {
    const pressedIndex = moments.buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    const nextIndex = pressedIndex < 0 && change < 0 ? moments.list.length - 1 : pressedIndex + change;
    if (!moments.list[nextIndex]) return moments.list.length > 0;
    showMoment(nextIndex);
    return true;
  }

  // Draws the part of the picture around the row's query and brightest patch.
  function drawThumb(canvas, photo, pack, { layer, head, patch, best: brightest }) {
    const values = new Float32Array(pack.tokens);
    rowInto(values, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
    const print = makePrint(photo);
    const domain = pictureDomain(values, 0, pack, FIRST_WAY, "auto", false);
    printHeat(print, values, pack.prefixCount, pack.rows, pack.columns, domain);
    fitCanvas(canvas, MOMENT_SIZE.width, MOMENT_SIZE.height, frame.ratio);
    const [w, h] = [canvas.width, canvas.height];
    const cropStart = (cell, cellCount, size, cropSize) =>
      Math.min(size - cropSize, Math.max(0, ((cell + 0.5) / cellCount) * size - cropSize / 2));
    const columnCentre = ((patch % pack.columns) + (brightest % pack.columns)) / 2;
    const rowCentre = (Math.floor(patch / pack.columns) + Math.floor(brightest / pack.columns)) / 2;
    const [x, y] = [
      cropStart(columnCentre, pack.columns, photo.width, w),
      cropStart(rowCentre, pack.rows, photo.height, h),
    ];
    canvas.getContext("2d").drawImage(print.canvas, x, y, w, h, 0, 0, w, h);
  }

  const coverSize = ({ rows, columns }) => {
    const factor = Math.max(MOMENT_SIZE.width / columns, MOMENT_SIZE.height / rows) * frame.ratio;
    return [columns * factor, rows * factor];
  };

  return { show: showMoments, step, writeWords: () => box.setAttribute("aria-label", words("moments")) };
}

function momentButton(name, description) {
  const button = document.createElement("button");
  const label = document.createElement("span");
  button.type = "button";
  label.textContent = name;
  button.title = description;
  button.append(document.createElement("canvas"), label);
  return button;
}

// Below: chooses the moments of a picture, at most five: rows with a far partner, one row that stays near, and one with
// a sink. No DOM.

const MOST_FAR_MOMENTS = 3;
const CLOSE_DISTANCE = 3; // two patches at most this many patches apart count as the same place
const LEAST_NEAR_SHARE = 0.35; // least share inside the 3 × 3 places of a row that stays near
const LEAST_SINK_SHARE = 0.3; // least share on one special token, which then is a sink

// Returns [{kind: "far" | "near" | "sink" | "same", layer, head, patch, best}], first the row at which the picture
// opened. scene: see core/moments.js; opening: {layer, head, patch} of that row, or null.
export function momentsOf(scene, opening) {
  const { pack } = scene;
  // the sentence above then says that nothing far apart stands out
  const hasFar = opening !== null || scene.moments[0]?.tells[0] >= STRIKING_SCORE;
  const candidates = [opening, ...surprisesOf(scene, 8)]
    .filter(Boolean)
    .map((candidate) => momentAt(pack, candidate))
    .filter(({ kind }) => kind !== "itself" && (hasFar || kind !== "far"));
  const distinctMoments = [];
  for (const candidate of candidates) {
    const isRepeat = distinctMoments.some(
      ({ patch, best }) =>
        (areClose(pack, patch, candidate.patch) && areClose(pack, best, candidate.best)) ||
        (areClose(pack, patch, candidate.best) && areClose(pack, best, candidate.patch)), // or the reverse direction
    );
    if (!isRepeat && distinctMoments.length < MOST_FAR_MOMENTS) distinctMoments.push(candidate);
  }
  const patch = distinctMoments[0]?.patch ?? opening?.patch ?? Math.floor(pack.patches / 2);
  const kindMoments = [
    strongestMoment(pack, patch, nearShare, LEAST_NEAR_SHARE, "near"),
    strongestMoment(pack, patch, sinkShare, LEAST_SINK_SHARE, "sink"),
  ];
  return [...distinctMoments, ...kindMoments.filter(Boolean)].slice(0, 5);
}

const areClose = ({ columns }, patch, otherPatch) =>
  Math.abs(Math.floor(patch / columns) - Math.floor(otherPatch / columns)) <= CLOSE_DISTANCE &&
  Math.abs((patch % columns) - (otherPatch % columns)) <= CLOSE_DISTANCE;

function weightRow(pack, layer, head, patch) {
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
  return row;
}

function largestPatch(row, { prefixCount, tokens }) {
  let brightest = prefixCount;
  for (let j = prefixCount; j < tokens; j++) if (row[j] > row[brightest]) brightest = j;
  return brightest - prefixCount;
}

function momentAt(pack, { layer, head, patch }) {
  const brightest = largestPatch(weightRow(pack, layer, head, patch), pack);
  const whereabouts = whereOf(patch, brightest, pack.rows, pack.columns);
  return { kind: whereabouts === "aside" ? "same" : whereabouts, layer, head, patch, best: brightest };
}

const nearShare = (row, pack, patch) => 1 - outsideShare(row, 0, pack, patch);
const sinkShare = (row, { prefixCount }) => Math.max(0, ...row.subarray(0, prefixCount));

// What the sink of a moment carries, in words; "" if the pack does not say how long values are.
export function sinkWords(pack, { layer, head, patch }, words) {
  const { norms } = layerOf(pack, layer);
  if (!norms) return "";
  const row = weightRow(pack, layer, head, patch);
  const times = carriedBy(
    norms.subarray(head * pack.tokens, (head + 1) * pack.tokens),
    row.indexOf(sinkShare(row, pack)),
  );
  return words(times < 1 ? "sinkLittle" : "sinkSame", { times: times.toFixed(2) });
}

// The moment of the loaded head in which `shareOf` of this patch's row is largest; null if none reaches `minimum`.
function strongestMoment(pack, patch, shareOf, minimum, kind) {
  let strongest = null;
  for (const layer of pack.stored.keys()) {
    for (let head = 0; head < pack.heads; head++) {
      if (!holdsHead(pack, layer, head)) continue;
      const row = weightRow(pack, layer, head, patch);
      const share = shareOf(row, pack, patch);
      if (share >= (strongest?.share ?? minimum))
        strongest = { share, kind, layer, head, patch, best: largestPatch(row, pack) };
    }
  }
  return strongest;
}

// The label of a moment: "eye → eye" if the sample has names for both places; else a word for the moment's kind.
export function momentName({ kind, patch, best: brightest }, { rows, columns }, parts, names, wordOf) {
  const [fromPart, toPart] = [partAt(parts, patch, rows, columns), partAt(parts, brightest, rows, columns)];
  if (fromPart && toPart && ["far", "same"].includes(kind))
    return wordOf("momentParts", { from: names[fromPart.kind].short, to: names[toPart.kind].short });
  return wordOf({ far: "momentFar", near: "momentNear", sink: "momentSink", same: "momentSame" }[kind]);
}
