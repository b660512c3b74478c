// Matches between two pictures by their features: a line flies from the patch under the cursor to its match in the
// other picture. A match is mutual: each patch is the other's nearest. Without a match, the line of words below says
// so. A phone shows only the words.
import { decodeHalves, largestIndex } from "../core/core.js";
import { nearestTo } from "../core/features.js";
import { percent } from "../core/numbers.js";
import { placeName } from "../core/sentence.js";
import { queryOf, sameToken, tokenOf } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { askOnce } from "./asking.js";
import { featuresToMatch } from "./features.js";
import { tokenName, verdictText } from "./readouts.js";
import { canAsk, isRowOpen } from "./state.js";

const FLIGHT_MS = 260; // ms of the line's animation

export function bindMatches(choice, page) {
  const box = make("div", { className: "match-line", "aria-hidden": "true", hidden: true });
  const [wire, cell] = [make("i"), make("b")];
  box.append(wire, cell);
  page.root.append(box);
  const line = make("p", "foot match-words");
  const [wordsSpan, partsButton] = [make("span"), make("button")];
  partsButton.className = "quiet";
  partsButton.textContent = "parts in the same colours";
  partsButton.title = "Both pictures cut into parts by their features: the same colour for the same part";
  const { value } = Object.assign(partsButton.dataset, { value: "parts" });
  partsButton.addEventListener("click", () => page.choose({ what: choice.view.what === value ? FIRST_WAY : value }));
  line.append(wordsSpan, partsButton);
  line.hidden = true;
  page.refs.otherFoot.after(line);
  page.matches = { box, wire, cell, line, words: wordsSpan, parts: partsButton };
}

// The match of the patch under the cursor: {from: the cursor's picture, "main" or "other", asked: the token under the
// cursor, nearest: the matching patch, alike: the similarity, mutual}; null without data.
export function matchNow(choice, data, { match, shown }) {
  const { view } = choice,
    { main, other } = data;
  const features = featuresToMatch(choice, data);
  if (!features?.ready) return null;
  const fromOther = choice.hoverOther >= 0 && !view.locked;
  const token = fromOther ? choice.hoverOther : view.locked && choice.aim >= 0 ? choice.aim : shown.token;
  if (token < (fromOther ? other : main).pack.prefixCount) return null;
  const key = `${main.id} ${other.id} ${fromOther} ${token}`;
  if (match.key !== key) {
    const [askedFeatures, comparedFeatures] = fromOther ? [features.two, features.one] : [features.one, features.two];
    match.found = {
      from: fromOther ? "other" : "main",
      asked: token,
      ...nearestTo(askedFeatures, token, comparedFeatures),
    };
    match.key = key;
  }
  return match.found;
}

export function paintMatch({ choice, data, frame, page }) {
  const { view } = choice,
    { other } = data,
    { matches } = page;
  const isComparing = view.beside === "compare" && Boolean(other) && other.picture.id !== data.main.picture.id;
  setVisible(matches.line, isComparing);
  const match = isComparing ? matchNow(choice, data, frame) : null;
  setVisible(matches.parts, isComparing && Boolean(featuresToMatch(choice, data)));
  matches.parts.setAttribute("aria-pressed", String(view.what === matches.parts.dataset.value));
  setText(matches.words, isComparing ? matchInWords(choice, data, match) : "");
  const isLineShown = match?.mutual && isRowOpen(page, "beside");
  setVisible(matches.box, Boolean(isLineShown));
  if (isLineShown) flyToMatch(data, frame, page, match);
  else frame.match.drawnKey = "";
}

function matchInWords(choice, data, match) {
  const features = featuresToMatch(choice, data);
  if (!features) return "Features of two models have nothing in common: nothing is matched.";
  if (!features.ready) return "Matches: the features are on their way.";
  if (!match) return "";
  const { pack } = match.from === "main" ? data.other : data.main;
  const place = placeName(match.nearest - pack.prefixCount, pack.columns);
  return match.mutual
    ? `Match in the other picture: ${place} (cosine of the features ${match.alike.toFixed(2)}).`
    : `No match in the other picture: the most similar patch there, ${place}, is more similar to another patch here.`;
}

function flyToMatch({ main, other }, frame, page, patchMatch) {
  const { match } = frame,
    { matches, refs, root } = page;
  const rootBox = root.getBoundingClientRect();
  const cellIn = (entry, token) => {
    const { pack } = entry;
    const patch = token - pack.prefixCount;
    const box = pictureBox(frame, page, entry === main ? refs.picture : refs.twin, rootBox);
    const [w, h] = [box.width / pack.columns, box.height / pack.rows];
    return { x: box.x + (patch % pack.columns) * w, y: box.y + Math.floor(patch / pack.columns) * h, w, h };
  };
  const [fromEntry, toEntry] = patchMatch.from === "main" ? [main, other] : [other, main];
  const [fromCell, toCell] = [cellIn(fromEntry, patchMatch.asked), cellIn(toEntry, patchMatch.nearest)];
  const startPoint = [fromCell.x + fromCell.w / 2, fromCell.y + fromCell.h / 2];
  const dx = toCell.x + toCell.w / 2 - startPoint[0],
    dy = toCell.y + toCell.h / 2 - startPoint[1];
  const transform = `translate(${startPoint[0]}px, ${startPoint[1]}px) rotate(${Math.atan2(dy, dx)}rad)`;
  const { wire, cell } = matches;
  wire.style.width = `${Math.hypot(dx, dy)}px`;
  wire.style.transform = transform;
  Object.assign(cell.style, {
    transform: `translate(${toCell.x}px, ${toCell.y}px)`,
    width: `${toCell.w}px`,
    height: `${toCell.h}px`,
  });
  if (match.drawnKey === match.key) return;
  match.drawnKey = match.key;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const frames = [{ transform: `${transform} scaleX(0)` }, { transform: `${transform} scaleX(1)` }];
  wire.animate(frames, { duration: FLIGHT_MS, easing: "ease-out" });
  cell.animate([{ opacity: 0 }, { opacity: 0, offset: 0.7 }, { opacity: 1 }], { duration: FLIGHT_MS });
}

// The position of a picture's canvas within the lens. The compared picture is centred in its canvas.
function pictureBox({ otherBox }, { refs }, canvas, rootBox) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const [x, y] = [left - rootBox.left, top - rootBox.top];
  if (canvas !== refs.twin || !otherBox) return { x, y, width, height };
  const pixelRatio = width / canvas.width;
  return {
    x: x + otherBox.x * pixelRatio,
    y: y + otherBox.y * pixelRatio,
    width: otherBox.width * pixelRatio,
    height: otherBox.height * pixelRatio,
  };
}

// Patching: after the layer on view, the locked patch's feature is replaced by that of the compared picture's patch at
// the same place, and the network continues. A small map shows how far each token's feature moves, and a sentence names
// the changed labels.

const PATCHING_NEEDS =
  "To try a patch of another picture here: compare with that picture (Beside), in this model, without cuts. " +
  "Lock a patch.";
const MAP_WIDTH = 220; // pixels of the small map

export function bindPatching(choice, data, page) {
  const box = make("div", {
    className: "patching",
    innerHTML: `<button class="quiet"></button><div></div><p role="status"></p><button class="close">×</button>`,
    hidden: true,
  });
  page.refs.change.append(box);
  const [button, map, sentence, close] = box.children;
  close.setAttribute("aria-label", "Close what the patch changes");
  page.patching = { box, button, map, status: sentence, close };
  close.addEventListener("click", () => {
    choice.patchWanted = data.patched.key = "";
    page.schedule();
  });
  button.addEventListener("click", () => {
    const { key, text } = patchRequest(choice, data);
    if (data.patched.key === key) return page.choose({ cut: text }); // runs the whole pass
    choice.patchWanted = key;
    page.schedule();
  });
}

function patchRequest({ view }, { main, other }) {
  const token = tokenOf(view.query, main.pack);
  const target = sameToken(token, main.pack, other.pack);
  const { sample, mine } = other.trace.words ?? {};
  const requestWords = {
    query: view.query,
    there: queryOf(target, other.pack),
    layer: view.layer,
    with: sample ? `sample:${sample}` : `mine:${mine}`,
  };
  const sourceSuffix = requestWords.there === requestWords.query ? "" : `<${requestWords.there}`;
  const cutText = sample ? `residual@${view.layer}:${view.query}${sourceSuffix}` : ""; // as in playground/cuts.py
  return { token, words: requestWords, text: cutText, key: `${main.id} ${Object.values(requestWords).join(" ")}` };
}

const canPatch = (choice, data) =>
  canAsk(data, "patched") &&
  choice.view.beside === "compare" &&
  data.other &&
  data.other.trace.model === data.main.trace.model;

export function paintPatching(lens) {
  const { choice, data } = lens;
  const { view } = choice,
    { patched, main } = data,
    { patching } = lens.page;
  setVisible(patching.box, canAsk(data, "patched"));
  if (!isRowOpen(lens.page, "change")) return;
  const isOffered = Boolean(canPatch(choice, data)) && !view.cut && view.locked;
  for (const element of [patching.button, patching.map, patching.close]) setVisible(element, isOffered);
  if (!isOffered) return setText(patching.status, PATCHING_NEEDS);
  const request = patchRequest(choice, data);
  const name = tokenName(request.token, main.pack);
  const isShown = patched.key === request.key;
  setVisible(patching.button, !isShown || (Boolean(request.text) && canAsk(data, "cuts")));
  setVisible(patching.map, isShown);
  setVisible(patching.close, isShown);
  const offer = `put this ${name} into the first picture, after layer ${view.layer}`;
  setText(patching.button, isShown ? "look at this pass" : offer);
  if (isShown) return setText(patching.status, patched.text);
  if (choice.patchWanted !== request.key) return setText(patching.status, "");
  setText(patching.status, "The network goes on from there…");
  const sendRequest = (options) => data.host.source.patched(main.trace, request.words, options);
  askOnce(lens, "patched", request.key, sendRequest, (answer) => showPatched(lens, request, answer));
}

function showPatched(
  { choice: { view }, data, frame: { photo }, page: { patching } },
  { key, token },
  { matrix, labels },
) {
  const { main } = data;
  const { pack } = main;
  const values = decodeHalves(matrix).slice();
  const ownChange = values[token];
  values[token] = 0; // the patched token moves most, because it was replaced
  const largest = largestIndex(values, pack.prefixCount, pack.tokens);
  const print = makePrint(makePhoto(photo.image, MAP_WIDTH, Math.round((MAP_WIDTH * pack.rows) / pack.columns)));
  const domain = { low: 0, high: values[largest] || 1 };
  printHeat(print, values, pack.prefixCount, pack.rows, pack.columns, domain);
  print.canvas.setAttribute("role", "img");
  print.canvas.setAttribute("aria-label", "How far each other patch's feature moves");
  patching.map.replaceChildren(print.canvas);
  const otherChanges =
    values[largest] > 0
      ? `of the others ${tokenName(largest, pack)} moves most, by ${percent(values[largest])}`
      : "after the last layer nobody else hears it";
  const name = tokenName(token, pack);
  const carriesWords = `After layer ${view.layer} this picture's ${name} carries what the other one has there.`;
  const labelWords = labels?.length ? ` ${verdictText(labels)}.` : "";
  Object.assign(data.patched, {
    key,
    text: `${carriesWords} Its own feature moves by ${percent(ownChange)}; ${otherChanges}.${labelWords}`,
  });
}
