// The moments of a picture, below See's picture: at most five, and a surprise. One press chooses a moment's layer, head
// and patch.

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

const MOMENT_SIZE = { width: 102, height: 70 }; // px, if there is room; 64 × 44 otherwise

// `hold(true)`: acts as if the picture were pointed at.
export function createMoments({ choice, data, frame, page }, row, { language, hold }) {
  const words = (key, values) => seeWords(language(), key, values);
  const moments = { scene: null, list: [], buttons: [] };
  let openingMoment = null; // {layer, head, patch} at which the picture opened
  row.setAttribute("role", "group");
  oneStop(row, () => [...row.children]);

  function showMoments(isRow) {
    const { main } = data;
    const { view } = choice;
    const scene = sceneOf(data);
    if (main.trace.words?.first) return; // a coarse trace; moments are searched in the finer one
    const key = [main.picture.id, main.trace.model, main.pack.rows, main.pack.columns].join(" ");
    if (openingMoment?.of !== key) {
      const patch = view.what === FIRST_WAY ? frame.shown.mark : -1; // without a striking moment it opens without a row
      openingMoment = { of: key, layer: view.layer, head: view.head, patch };
      Object.assign(moments, { scene: null, list: [] });
      row.replaceChildren();
    }
    if (scene && moments.scene !== scene) {
      const { layer, head, patch } = openingMoment;
      const atOpening = patch >= 0 && holdsHead(scene.pack, layer, head) ? { layer, head, patch } : null;
      Object.assign(moments, { scene, list: momentsOf(scene, atOpening) });
      fillMoments();
    }
    for (const [i, button] of moments.buttons.entries()) {
      const moment = moments.list[i];
      const isShown =
        moment && moment.layer === view.layer && moment.head === view.head && moment.patch === frame.shown.mark;
      button.setAttribute("aria-pressed", String(Boolean(isShown) && isRow));
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
        button.dataset.explains = `${words("sinkMeans", { share: 100 * IN_A_SINK })} ${description}`;
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
    row.replaceChildren(...moments.buttons, moreButton);
    for (const [i, button] of [...row.children].entries()) button.tabIndex = i ? -1 : 0;
  }

  function showMoment(i) {
    const { list, scene } = moments;
    const { layer, head, patch } = list[i];
    hold(true);
    choice.hover = -1;
    const query = patchText(patch, scene.pack.columns);
    page.choose({ what: FIRST_WAY, direction: "row", layer, head, query, locked: false });
  }

  // A presenter's keys: the next or former moment. False if there is none.
  function step(steps) {
    const pressed = moments.buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    const target = pressed < 0 && steps < 0 ? moments.list.length - 1 : pressed + steps;
    if (!moments.list[target]) return moments.list.length > 0;
    showMoment(target);
    return true;
  }

  // A thumbnail cut from the picture, with the row's patch and its brightest one.
  function drawThumb(canvas, photo, pack, { layer, head, patch, best: brightest }) {
    const values = new Float32Array(pack.tokens);
    rowInto(values, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
    const print = makePrint(photo);
    const domain = ownExposure(values, 0, pack, FIRST_WAY, "auto", false);
    printHeat(print, values, pack.prefixCount, pack.rows, pack.columns, domain);
    fitCanvas(canvas, MOMENT_SIZE.width, MOMENT_SIZE.height, frame.ratio);
    const [w, h] = [canvas.width, canvas.height];
    const cropStart = (cell, cells, size, cut) =>
      Math.min(size - cut, Math.max(0, ((cell + 0.5) / cells) * size - cut / 2));
    const column = ((patch % pack.columns) + (brightest % pack.columns)) / 2;
    const line = (Math.floor(patch / pack.columns) + Math.floor(brightest / pack.columns)) / 2;
    const [x, y] = [cropStart(column, pack.columns, photo.width, w), cropStart(line, pack.rows, photo.height, h)];
    canvas.getContext("2d").drawImage(print.canvas, x, y, w, h, 0, 0, w, h);
  }

  const coverSize = ({ rows, columns }) => {
    const factor = Math.max(MOMENT_SIZE.width / columns, MOMENT_SIZE.height / rows) * frame.ratio;
    return [columns * factor, rows * factor];
  };

  return { show: showMoments, step, writeWords: () => row.setAttribute("aria-label", words("moments")) };
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

// The moments of a picture, at most five: those of the search with a far partner, a row that stays near, and a sink. No
// DOM in here.

const FAR_ONES = 3;
const CLOSE = 3; // patches apart at which two places count as the same
const STAYS_NEAR = 0.35; // share of a row within the 3 × 3 places that makes it near
const IN_A_SINK = 0.3; // share of a row on one token that makes it a sink

// [{kind: "far" | "near" | "sink" | "same", layer, head, patch, best}], the opening one first. scene: of
// core/moments.js; opening: {layer, head, patch} with which the picture opened.
export function momentsOf(scene, opening) {
  const { pack } = scene;
  const candidates = [opening, ...surprisesOf(scene, 8)]
    .filter(Boolean)
    .map((candidate) => described(pack, candidate))
    .filter(({ kind }) => kind !== "itself");
  const distinct = [];
  for (const candidate of candidates) {
    const isRepeat = distinct.some(
      ({ patch, best }) =>
        (areClose(pack, patch, candidate.patch) && areClose(pack, best, candidate.best)) ||
        (areClose(pack, patch, candidate.best) && areClose(pack, best, candidate.patch)), // also the reverse
    );
    if (!isRepeat && distinct.length < FAR_ONES) distinct.push(candidate);
  }
  const patch = distinct[0]?.patch ?? opening?.patch ?? Math.floor(pack.patches / 2);
  const byKind = [
    strongestMoment(pack, patch, nearShare, STAYS_NEAR, "near"),
    strongestMoment(pack, patch, sinkShare, IN_A_SINK, "sink"),
  ];
  return [...distinct, ...byKind.filter(Boolean)].slice(0, 5);
}

const areClose = ({ columns }, patch, other) =>
  Math.abs(Math.floor(patch / columns) - Math.floor(other / columns)) <= CLOSE &&
  Math.abs((patch % columns) - (other % columns)) <= CLOSE;

function trainedRow(pack, layer, head, patch) {
  const row = new Float32Array(pack.tokens);
  rowInto(row, 0, pack, layer, head, pack.prefixCount + patch, pack.scale);
  return row;
}

function largestPatch(row, { prefixCount, tokens }) {
  let brightest = prefixCount;
  for (let j = prefixCount; j < tokens; j++) if (row[j] > row[brightest]) brightest = j;
  return brightest - prefixCount;
}

function described(pack, { layer, head, patch }) {
  const brightest = largestPatch(trainedRow(pack, layer, head, patch), pack);
  const whereabouts = whereOf(patch, brightest, pack.rows, pack.columns);
  return { kind: whereabouts === "aside" ? "same" : whereabouts, layer, head, patch, best: brightest };
}

const nearShare = (row, pack, patch) => 1 - outsideNine(row, 0, pack, patch);
function sinkShare(row, { prefixCount }) {
  let largest = 0;
  for (let j = 0; j < prefixCount; j++) largest = Math.max(largest, row[j]);
  return largest;
}

// The loaded head in which this patch's row has its largest share; null if none is large enough.
function strongestMoment(pack, patch, shareOf, minimum, kind) {
  let strongest = null;
  for (const layer of pack.stored.keys()) {
    for (let head = 0; head < pack.heads; head++) {
      if (!holdsHead(pack, layer, head)) continue;
      const row = trainedRow(pack, layer, head, patch);
      const share = shareOf(row, pack, patch);
      if (share >= (strongest?.share ?? minimum))
        strongest = { share, kind, layer, head, patch, best: largestPatch(row, pack) };
    }
  }
  return strongest;
}

// "eye → eye" if the sample names both places; else the kind's own word.
export function momentName({ kind, patch, best: brightest }, { rows, columns }, parts, names, wordOf) {
  const [fromPart, toPart] = [partAt(parts, patch, rows, columns), partAt(parts, brightest, rows, columns)];
  if (fromPart && toPart && ["far", "same"].includes(kind))
    return wordOf("momentParts", { from: names[fromPart.kind].short, to: names[toPart.kind].short });
  return wordOf({ far: "momentFar", near: "momentNear", sink: "momentSink", same: "momentSame" }[kind]);
}
