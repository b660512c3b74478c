// The row of moments below See's picture: at most five, and a button for a surprise. A moment is a striking row of
// weights; a press on it shows the moment's layer, head and patch.

import { pictureDomain } from "../core/answers.js";
import { holdsHead, largestIndex, layerOf, rowOf } from "../core/core.js";
import { patchDistance, patchText } from "../core/grid.js";
import { carriedBy, isPeak, LEAST_SINK_SHARE, LITTLE, meanRowOf } from "../core/kinds.js";
import { surprisesOf } from "../core/moments.js";
import { partAt, toldOf } from "../core/places.js";
import { PART_NAMES, shownPlace, unbrokenPercent } from "../core/says.js";
import { opensAtMoment } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { fitCanvas, make, oneTabStop } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { photoOf } from "../lens/layout.js";
import { sceneOf, surprise } from "../lens/moment.js";
import { seeWords } from "../lens/words.js";

const MOMENT_SIZE = { width: 102, height: 70 }; // px, if there is room; 64 × 44 otherwise

// hold(isHeld): shows the marks as if the pointer were over the picture, or hides them.
export function createMoments(lens, box, { language, hold }) {
  const { choice, data, frame, page } = lens;
  const words = (key, values) => seeWords(language(), key, values);
  const moments = { scene: null, list: [], buttons: [] };
  let openingMoment = null; // {layer, head, patch} at which the picture opened
  box.setAttribute("role", "group");
  oneTabStop(box, () => [...box.children]);

  function showMoments(isPlainRow) {
    const { main } = data;
    const { view } = choice;
    const scene = sceneOf(data);
    const { kind } = choice.opening;
    const key = [main.picture.id, main.trace.model, main.pack.rows, main.pack.columns, kind].join(" ");
    if (openingMoment?.key !== key) {
      const isMoment = view.what === FIRST_WAY && (!opensAtMoment(main.trace) || ["far", "thing"].includes(kind));
      const patch = isMoment ? frame.shown.mark : -1;
      openingMoment = { key, layer: view.layer, head: view.head, patch };
      Object.assign(moments, { scene: null, list: [], buttons: [] });
      box.replaceChildren();
    }
    if (main.trace.words?.first) return; // this trace is coarse; moments are searched in the finer one, which follows
    if (scene && moments.scene !== scene) {
      const { layer, head, patch } = openingMoment;
      const shownMoment = patch >= 0 && holdsHead(scene.pack, layer, head) ? { layer, head, patch } : null;
      Object.assign(moments, { scene, list: momentsOf(scene, shownMoment, data.main.picture.parts) });
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
    const photo = makePhoto(photoOf(lens, data.main).image, ...coverSize(pack));
    moments.buttons = moments.list.map((moment, i) => {
      const name = momentName(moment, pack, parts, PART_NAMES[language()], words);
      const description = words("momentSays", { name, layer: moment.layer, head: pack.headNumbers[moment.head] });
      const button = momentButton(name, description);
      if (moment.kind === "sink") {
        button.title = "";
        const isPlaceless = moment.token < pack.prefixCount;
        const what = isPlaceless ? words("sinkMeans", { share: 100 * LEAST_SINK_SHARE }) : "";
        const means = [what, sinkWords(pack, moment, words)];
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
      surprise(lens);
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
    const values = weightRow(pack, layer, head, patch);
    const print = makePrint(photo);
    const domain = pictureDomain(values, 0, pack, FIRST_WAY, "auto");
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

const momentButton = (name, title) => make("button", { title }, make("canvas"), make("span", "", name));

// Below: chooses the moments of a picture, at most five: rows with a far partner, things that keep to themselves, and a
// sink. No DOM.

const MOST_OF_A_KIND = { twin: 2, two: 1, three: 1, own: 2 };
const MOST_MOMENTS = 5;
const CLOSE_DISTANCE = 3; // two patches at most this many patches apart count as the same place

// Returns [{kind: "twin" | "two" | "three" | "own" | "sink", layer, head, patch, best: the brightest patch of the place
// that is told, part: its name, share}], first the row at which the picture opened. scene: see core/moments.js;
// opening: {layer, head, patch} of that row, or null; parts: the sample's.
export function momentsOf(scene, opening, parts = []) {
  const { pack } = scene;
  const candidates = surprisesOf(scene, 16).map((candidate) => momentAt(pack, candidate, parts));
  const moments = [opening].filter(Boolean).map((moment) => momentAt(pack, moment, parts));
  for (const candidate of candidates.filter(({ isTold }) => isTold)) {
    const { kind, patch, best } = candidate;
    const isRepeat = moments.some(
      (moment) =>
        (areClose(pack, moment.patch, patch) && areClose(pack, moment.best, best)) ||
        (areClose(pack, moment.patch, best) && areClose(pack, moment.best, patch)), // or the reverse direction
    );
    const isOneMore = moments.filter((moment) => moment.kind === kind).length >= MOST_OF_A_KIND[kind];
    if (!isRepeat && !isOneMore && moments.length < MOST_MOMENTS - 1) moments.push(candidate);
  }
  const sink = strongestSink(pack, moments[0]?.patch ?? Math.floor(pack.patches / 2));
  return sink ? [...moments, sink] : moments;
}

const areClose = ({ columns }, patch, otherPatch) => patchDistance(patch, otherPatch, columns) <= CLOSE_DISTANCE;

const weightRow = (pack, layer, head, patch) => rowOf(pack, layer, head, pack.prefixCount + patch);

function momentAt(pack, { layer, head, patch }, parts) {
  const row = weightRow(pack, layer, head, patch);
  const told = toldOf(row, pack.prefixCount, pack, patch, parts);
  const others = told.places.filter((place) => !place.own);
  const total = others.reduce((sum, place) => sum + place.share, 0);
  const own = told.places.find((place) => place.own && place.share > total);
  const kind = own ? "own" : ["twin", "two", "three"][others.length - 1];
  const { brightest, part, share } = own ?? shownPlace(told);
  const token = pack.prefixCount + brightest;
  if (kind === "twin" && isSink(pack, layer, head, row, token))
    return { kind: "sink", layer, head, patch, best: brightest, token, part: null, share: row[token], isTold: true };
  const isTold = told.kind !== "spread";
  return { kind, layer, head, patch, best: brightest, part, share: others.length > 1 && !own ? total : share, isTold };
}

// Whether this token is where everybody looks: then it is nobody's twin.
function isSink(pack, layer, head, row, token) {
  if (row[token] < LEAST_SINK_SHARE) return false;
  const { most, tokens } = meanRowOf(pack, layer, head, pack.scale);
  return isPeak({ peak: row[most], crowdPeak: tokens[most], fits: most === largestIndex(row) ? ["peak"] : [] });
}

const sinkShare = (row, { prefixCount }) => Math.max(0, ...row.subarray(0, prefixCount));

// What the sink of a moment carries, in words; "" if the pack does not say how long values are.
export function sinkWords(pack, { layer, head, token }, words) {
  const { norms } = layerOf(pack, layer);
  if (!norms) return "";
  const times = carriedBy(norms.subarray(head * pack.tokens, (head + 1) * pack.tokens), token);
  return words(times < LITTLE ? "sinkLittle" : "sinkCarries", { times: times.toFixed(2) });
}

// The row of this patch with the largest share on one special token; null if none is a sink.
function strongestSink(pack, patch) {
  let strongest = null;
  for (const layer of pack.stored.keys()) {
    for (let head = 0; head < pack.heads; head++) {
      if (!holdsHead(pack, layer, head)) continue;
      const row = weightRow(pack, layer, head, patch);
      const share = sinkShare(row, pack);
      if (share >= (strongest?.share ?? LEAST_SINK_SHARE))
        strongest = { kind: "sink", layer, head, patch, best: patch, token: row.indexOf(share), part: null, share };
    }
  }
  return strongest;
}

const KIND_WORDS = { twin: "momentTwin", two: "momentTwo", three: "momentThree", own: "momentOwn", sink: "momentSink" };

// The label of a moment: "eye → eye 65 %" if the sample has names for both places; else its kind and share.
export function momentName({ kind, patch, part, share }, pack, parts, names, wordOf) {
  const values = { share: unbrokenPercent(share) };
  const fromPart = partAt(parts, patch, pack);
  if (fromPart && part && kind === "twin")
    return wordOf("momentParts", { ...values, from: names[fromPart.kind].short, to: names[part.kind].short });
  return wordOf(KIND_WORDS[kind], values);
}
