// Two pictures, one gesture: from the patch that is pointed at a line flies to its match in the other picture, measured
// by features. A match is mutual; where there is none, the line below says so. On a phone the words are all there is.

import { nearestTo } from "../core/matching.js";
import { placeName } from "../core/sentence.js";
import { FIRST_WAY } from "../core/ways.js";
import { say, show } from "../drawing/dom.js";
import { matchable } from "./features.js";

const FLIGHT = 260; // ms

export function bindMatches(lens) {
  const box = document.createElement("div");
  box.className = "match-line";
  box.setAttribute("aria-hidden", "true");
  box.hidden = true;
  const [wire, cell] = [document.createElement("i"), document.createElement("b")];
  box.append(wire, cell);
  lens.root.append(box);
  const line = document.createElement("p");
  line.className = "foot match-words";
  const [words, parts] = [document.createElement("span"), document.createElement("button")];
  parts.className = "quiet";
  parts.textContent = "parts in the same colours";
  parts.title = "Both pictures cut into parts by their features: the same colour for the same part";
  const { value } = Object.assign(parts.dataset, { value: "parts" });
  parts.addEventListener("click", () => lens.choose({ what: lens.view.what === value ? FIRST_WAY : value }));
  line.append(words, parts);
  line.hidden = true;
  lens.refs.otherFoot.after(line);
  lens.matches = { box, wire, cell, line, words, parts, key: "", found: null, drawn: "" };
}

// {from: "main" or "other", asked, there, alike, mutual} of the patch that is pointed at; null where there is none.
export function matchNow(lens) {
  const { matches, shown, view, main, other } = lens;
  const features = matchable(lens);
  if (!features?.ready) return null;
  const fromOther = lens.hoverOther >= 0 && !view.locked;
  const asked = fromOther ? lens.hoverOther : view.locked && lens.aim >= 0 ? lens.aim : shown.token;
  if (asked < (fromOther ? other : main).pack.prefixCount) return null;
  const key = `${main.id} ${other.id} ${fromOther} ${asked}`;
  if (matches.key !== key) {
    const [one, two] = fromOther ? [features.two, features.one] : [features.one, features.two];
    matches.found = { from: fromOther ? "other" : "main", asked, ...nearestTo(one, asked, two) };
    matches.key = key;
  }
  return matches.found;
}

export function paintMatch(lens) {
  const { matches, view, other } = lens;
  const compares = view.beside === "compare" && Boolean(other) && other.picture.id !== lens.main.picture.id;
  show(matches.line, compares);
  const found = compares ? matchNow(lens) : null;
  show(matches.parts, compares && Boolean(matchable(lens)));
  matches.parts.setAttribute("aria-pressed", String(view.what === matches.parts.dataset.value));
  say(matches.words, compares ? matchInWords(lens, found) : "");
  const flies = found?.mutual && !lens.presenting;
  show(matches.box, Boolean(flies));
  if (flies) flyToMatch(lens, found);
  else matches.drawn = "";
}

function matchInWords(lens, found) {
  const features = matchable(lens);
  if (!features) return "Features of two models have nothing in common: nothing is matched.";
  if (!features.ready) return "Matches: the features are on their way.";
  if (!found) return "";
  const { pack } = found.from === "main" ? lens.other : lens.main;
  const where = placeName(found.there - pack.prefixCount, pack.columns);
  return found.mutual
    ? `Its match there, by features: ${where} (cosine ${found.alike.toFixed(2)}).`
    : `No match there: what resembles it most, ${where}, resembles another patch here more.`;
}

// ------------------------------------------------------------------------------------------------------- the line

function flyToMatch(lens, found) {
  const { matches, refs, root, main, other } = lens;
  const within = root.getBoundingClientRect();
  const cellIn = (entry, token) => {
    const { pack } = entry;
    const patch = token - pack.prefixCount;
    const box = pictureBox(lens, entry === main ? refs.picture : refs.twin, within);
    const [w, h] = [box.width / pack.columns, box.height / pack.rows];
    return { x: box.x + (patch % pack.columns) * w, y: box.y + Math.floor(patch / pack.columns) * h, w, h };
  };
  const [here, there] = found.from === "main" ? [main, other] : [other, main];
  const [from, to] = [cellIn(here, found.asked), cellIn(there, found.there)];
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
  if (matches.drawn === matches.key) return;
  matches.drawn = matches.key;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const frames = [{ transform: `${turned} scaleX(0)` }, { transform: `${turned} scaleX(1)` }];
  wire.animate(frames, { duration: FLIGHT, easing: "ease-out" });
  cell.animate([{ opacity: 0 }, { opacity: 0, offset: 0.7 }, { opacity: 1 }], { duration: FLIGHT });
}

// Where a picture lies in the lens; the compared one keeps its shape inside its canvas.
function pictureBox({ refs, otherBox }, canvas, within) {
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
