// Matches between two pictures by their features: a line flies from the patch under the cursor to its match in the
// other picture. A match is mutual: each patch is the other's nearest. Without a match, the line of words below says
// so. A phone shows only the words.
import { nearestTo } from "../core/features.js";
import { placeName } from "../core/sentence.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { featuresToMatch } from "./features.js";
import { isRowOpen } from "./state.js";

const FLIGHT_MS = 260; // ms of the line's animation

export function bindMatches(page) {
  const box = make("div", { className: "match-line", "aria-hidden": "true", hidden: true });
  const [wire, cell] = [make("i"), make("b")];
  box.append(wire, cell);
  page.root.append(box);
  const line = make("p", "foot match-words");
  const wordsSpan = make("span");
  line.append(wordsSpan);
  line.hidden = true;
  page.refs.otherFoot.after(line);
  page.matches = { box, wire, cell, line, words: wordsSpan };
}

// The match of the patch under the cursor: {from: the cursor's picture, "main" or "other", asked: the token under the
// cursor, nearest: the matching patch, alike: the similarity, mutual}; null without data.
export function matchNow(lens) {
  const { choice, view, main, other, shown } = lens;
  const { match } = lens.frame;
  const features = featuresToMatch(lens);
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

export function paintMatch(lens) {
  const { data, frame, page, view, other } = lens;
  const { matches } = page;
  const isComparing = view.beside === "compare" && Boolean(other) && other.picture.id !== data.main.picture.id;
  setVisible(matches.line, isComparing);
  const match = isComparing ? matchNow(lens) : null;
  setText(matches.words, isComparing ? matchInWords(lens, match) : "");
  const isLineShown = match?.mutual && isRowOpen(page, "beside");
  setVisible(matches.box, Boolean(isLineShown));
  if (isLineShown) flyToMatch(lens, match);
  else frame.match.drawnKey = "";
}

function matchInWords(lens, match) {
  const { data } = lens;
  const features = featuresToMatch(lens);
  if (!features) return "Features of two models have nothing in common: nothing is matched.";
  if (!features.ready) return "Matches: the features are on their way.";
  if (!match) return "";
  const { pack } = match.from === "main" ? data.other : data.main;
  const place = placeName(match.nearest - pack.prefixCount, pack.columns);
  return match.mutual
    ? `Match in the other picture: ${place} (cosine of the features ${match.alike.toFixed(2)}).`
    : `No match in the other picture: the most similar patch there, ${place}, is more similar to another patch here.`;
}

function flyToMatch(lens, patchMatch) {
  const { main, other, refs, root } = lens;
  const { match } = lens.frame;
  const { matches } = lens.page;
  const rootBox = root.getBoundingClientRect();
  const cellIn = (entry, token) => {
    const { pack } = entry;
    const patch = token - pack.prefixCount;
    const box = pictureBox(lens, entry === main ? refs.picture : refs.twin, rootBox);
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
function pictureBox({ frame: { otherBox }, refs }, canvas, rootBox) {
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
