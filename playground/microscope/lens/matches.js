// Matches between two pictures: a line flies from the patch under the cursor to its match in the other picture, by
// their features. A match is mutual; if there is none, the line of words below says so. A phone shows only the words.
import { decodeHalves, largestIndex } from "../core/core.js";
import { nearestTo } from "../core/features.js";
import { percent } from "../core/numbers.js";
import { placeName } from "../core/sentence.js";
import { queryOf, sameToken, tokenOf } from "../core/view.js";
import { FIRST_WAY } from "../core/ways.js";
import { say, show } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { askOnce } from "./asking.js";
import { matchable } from "./features.js";
import { tokenName, verdictOf } from "./readouts.js";
import { canAsk } from "./state.js";

const FLIGHT = 260; // ms

export function bindMatches(choice, page) {
  const box = document.createElement("div");
  box.className = "match-line";
  box.setAttribute("aria-hidden", "true");
  box.hidden = true;
  const [wire, cell] = [document.createElement("i"), document.createElement("b")];
  box.append(wire, cell);
  page.root.append(box);
  const line = document.createElement("p");
  line.className = "foot match-words";
  const [words, parts] = [document.createElement("span"), document.createElement("button")];
  parts.className = "quiet";
  parts.textContent = "parts in the same colours";
  parts.title = "Both pictures cut into parts by their features: the same colour for the same part";
  const { value } = Object.assign(parts.dataset, { value: "parts" });
  parts.addEventListener("click", () => page.choose({ what: choice.view.what === value ? FIRST_WAY : value }));
  line.append(words, parts);
  line.hidden = true;
  page.refs.otherFoot.after(line);
  page.matches = { box, wire, cell, line, words, parts };
}

// The match of the patch under the cursor: {from: "main" or "other", asked, there, alike, mutual}; null: none.
export function matchNow(choice, data, { match, shown }) {
  const { view } = choice,
    { main, other } = data;
  const features = matchable(choice, data);
  if (!features?.ready) return null;
  const fromOther = choice.hoverOther >= 0 && !view.locked;
  const token = fromOther ? choice.hoverOther : view.locked && choice.aim >= 0 ? choice.aim : shown.token;
  if (token < (fromOther ? other : main).pack.prefixCount) return null;
  const key = `${main.id} ${other.id} ${fromOther} ${token}`;
  if (match.key !== key) {
    const [one, two] = fromOther ? [features.two, features.one] : [features.one, features.two];
    match.found = { from: fromOther ? "other" : "main", asked: token, ...nearestTo(one, token, two) };
    match.key = key;
  }
  return match.found;
}

export function paintMatch({ choice, data, frame, page }) {
  const { view } = choice,
    { other } = data,
    { matches } = page;
  const compares = view.beside === "compare" && Boolean(other) && other.picture.id !== data.main.picture.id;
  show(matches.line, compares);
  const match = compares ? matchNow(choice, data, frame) : null;
  show(matches.parts, compares && Boolean(matchable(choice, data)));
  matches.parts.setAttribute("aria-pressed", String(view.what === matches.parts.dataset.value));
  say(matches.words, compares ? matchInWords(choice, data, match) : "");
  const flies = match?.mutual && !choice.presenting;
  show(matches.box, Boolean(flies));
  if (flies) flyToMatch(data, frame, page, match);
  else frame.match.drawn = "";
}

function matchInWords(choice, data, match) {
  const features = matchable(choice, data);
  if (!features) return "Features of two models have nothing in common: nothing is matched.";
  if (!features.ready) return "Matches: the features are on their way.";
  if (!match) return "";
  const { pack } = match.from === "main" ? data.other : data.main;
  const where = placeName(match.there - pack.prefixCount, pack.columns);
  return match.mutual
    ? `Its match there, by features: ${where} (cosine ${match.alike.toFixed(2)}).`
    : `No match there: what resembles it most, ${where}, resembles another patch here more.`;
}

// ------------------------------------------------------------------------------------------------------- the line

function flyToMatch({ main, other }, frame, page, pair) {
  const { match } = frame,
    { matches, refs, root } = page;
  const within = root.getBoundingClientRect();
  const cellIn = (entry, token) => {
    const { pack } = entry;
    const patch = token - pack.prefixCount;
    const box = pictureBox(frame, page, entry === main ? refs.picture : refs.twin, within);
    const [w, h] = [box.width / pack.columns, box.height / pack.rows];
    return { x: box.x + (patch % pack.columns) * w, y: box.y + Math.floor(patch / pack.columns) * h, w, h };
  };
  const [here, there] = pair.from === "main" ? [main, other] : [other, main];
  const [from, to] = [cellIn(here, pair.asked), cellIn(there, pair.there)];
  const start = [from.x + from.w / 2, from.y + from.h / 2];
  const across = to.x + to.w / 2 - start[0],
    down = to.y + to.h / 2 - start[1];
  const turned = `translate(${start[0]}px, ${start[1]}px) rotate(${Math.atan2(down, across)}rad)`;
  const { wire, cell } = matches;
  wire.style.width = `${Math.hypot(across, down)}px`;
  wire.style.transform = turned;
  Object.assign(cell.style, {
    transform: `translate(${to.x}px, ${to.y}px)`,
    width: `${to.w}px`,
    height: `${to.h}px`,
  });
  if (match.drawn === match.key) return;
  match.drawn = match.key;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const frames = [{ transform: `${turned} scaleX(0)` }, { transform: `${turned} scaleX(1)` }];
  wire.animate(frames, { duration: FLIGHT, easing: "ease-out" });
  cell.animate([{ opacity: 0 }, { opacity: 0, offset: 0.7 }, { opacity: 1 }], { duration: FLIGHT });
}

// The box of a picture within the lens; the compared one is centred in its canvas.
function pictureBox({ otherBox }, { refs }, canvas, within) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const [x, y] = [left - within.left, top - within.top];
  if (canvas !== refs.twin || !otherBox) return { x, y, width, height };
  const by = width / canvas.width;
  return {
    x: x + otherBox.x * by,
    y: y + otherBox.y * by,
    width: otherBox.width * by,
    height: otherBox.height * by,
  };
}

// Patching: after the layer on view, the locked patch is replaced by the compared picture's patch at the same place,
// and the network goes on from there. A small map shows how far each token moves, beside the changed labels.

const MAP_WIDTH = 220; // pixels of the small map

export function bindPatching(choice, data, page) {
  const box = document.createElement("div");
  box.className = "patching";
  box.innerHTML = `<button class="quiet"></button><div></div><p role="status"></p><button class="close">×</button>`;
  box.hidden = true;
  page.refs.twin.after(box); // it lies above the second picture, so that nothing else moves
  const [button, map, said, close] = box.children;
  close.setAttribute("aria-label", "Close what the patch changes");
  page.patching = { box, button, map, said, close };
  close.addEventListener("click", () => {
    choice.patchWanted = data.patched.key = "";
    page.schedule();
  });
  button.addEventListener("click", () => {
    const { key, text } = wantedPatch(choice, data);
    if (data.patched.key === key) return page.choose({ cut: text }); // runs the whole pass
    choice.patchWanted = key;
    page.schedule();
  });
}

function wantedPatch({ view }, { main, other }) {
  const token = tokenOf(view.query, main.pack);
  const target = sameToken(token, main.pack, other.pack);
  const { sample, mine } = other.trace.words ?? {};
  const words = {
    query: view.query,
    there: queryOf(target, other.pack),
    layer: view.layer,
    with: sample ? `sample:${sample}` : `mine:${mine}`,
  };
  const from = words.there === words.query ? "" : `<${words.there}`;
  const text = sample ? `residual@${view.layer}:${view.query}${from}` : ""; // as in playground/cuts.py
  return { token, words, text, key: `${main.id} ${Object.values(words).join(" ")}` };
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
  const here = Boolean(canPatch(choice, data)) && !view.cut && view.locked; // else it would cover the row
  show(patching.box, here);
  if (!here) return;
  const patch = wantedPatch(choice, data);
  const name = tokenName(patch.token, main.pack);
  const shown = patched.key === patch.key;
  show(patching.button, !shown || (Boolean(patch.text) && canAsk(data, "cuts")));
  show(patching.map, shown);
  show(patching.close, shown);
  const puts = `put this ${name} into the first picture, after layer ${view.layer}`;
  say(patching.button, shown ? "look at this pass" : puts);
  if (shown) return say(patching.said, patched.text);
  if (choice.patchWanted !== patch.key) return say(patching.said, "");
  say(patching.said, "The network goes on from there…");
  const question = (how) => data.host.source.patched(main.trace, patch.words, how);
  askOnce(lens, "patched", patch.key, question, (answer) => takePatched(lens, patch, answer));
}

function takePatched(
  { choice: { view }, data, frame: { photo }, page: { patching } },
  { key, token },
  { matrix, labels },
) {
  const { main } = data;
  const { pack } = main;
  const values = decodeHalves(matrix).slice();
  const moved = values[token];
  values[token] = 0; // the patched one moves most, being replaced
  const best = largestIndex(values, pack.prefixCount, pack.tokens);
  const print = makePrint(makePhoto(photo.image, MAP_WIDTH, Math.round((MAP_WIDTH * pack.rows) / pack.columns)));
  const domain = { low: 0, high: values[best] || 1, log: false };
  printHeat(print, values, pack.prefixCount, pack.rows, pack.columns, domain, false);
  print.canvas.setAttribute("role", "img");
  print.canvas.setAttribute("aria-label", "How far each other patch's feature moves");
  patching.map.replaceChildren(print.canvas);
  const others =
    values[best] > 0
      ? `of the others ${tokenName(best, pack)} moves most, by ${percent(values[best])}`
      : "after the last layer nobody else hears it";
  const name = tokenName(token, pack);
  const words = `After layer ${view.layer} this picture's ${name} carries what the other one has there.`;
  const labelWords = labels?.length ? ` ${verdictOf(labels)}.` : "";
  Object.assign(data.patched, {
    key,
    text: `${words} Its own feature moves by ${percent(moved)}; ${others}.${labelWords}`,
  });
}
