// The line under the picture: what kind of row this is, and a head in which this patch shows more. It follows the
// cursor at its own pace.

import { holdsHead } from "../core/core.js";
import { patchText } from "../core/grid.js";
import { crowdOf, isEarlyLayer, isPeak, kindOf, kindWords, likenessOf, rowFacts } from "../core/kinds.js";
import { headsFor, STRIKING, telling } from "../core/moments.js";
import { isMuch } from "../core/nearness.js";
import { wayOf } from "../core/ways.js";
import { say, show } from "../drawing/dom.js";
import { nearnessShare } from "./beside.js";
import { sceneOf, towardOf } from "./moment.js";
import { whatToDo } from "./readouts.js";
import { isMap, isMean } from "./shown.js";

const BETWEEN = 60; // ms between two
const MORE = 1.5; // times as telling: worth going there
const CROWDS = 24; // heads whose crowds are kept

const KIND_LINE = `
  <b data-hint></b>
  <span data-kind></span>
  <button class="quiet" data-go hidden></button>`;

export function bindKindLine(frame, page) {
  const line = document.createElement("p");
  line.className = "kindline";
  line.innerHTML = KIND_LINE;
  page.refs.pictureBox.after(line);
  const [hint, kind, go] = line.children;
  page.kindline = { line, hint, kind, go, timer: 0 };
  go.addEventListener("click", () => {
    if (frame.better) page.choose({ ...frame.better, locked: true });
  });
}

export function writeKindSoon(lens) {
  const { page } = lens;
  const { kindline } = page;
  kindline.timer ||= setTimeout(() => {
    kindline.timer = 0;
    const { view } = lens.choice,
      { main } = lens.data,
      { shown } = lens.frame,
      { alive } = page;
    // The view may have gone on to a layer that is not here yet; it is written when that is painted.
    if (alive && main && !shown.layerMissing && !shown.rough && holdsHead(shown.pack, view.layer, view.head))
      writeKind(lens);
  }, BETWEEN);
}

function writeKind(lens) {
  const { choice, frame, page } = lens;
  const { view } = choice,
    { shown } = frame,
    { kindline } = page;
  const weights = wayOf(view).rows; // of other rows the sentence names other patches
  const readable =
    weights && view.direction === "row" && !isMean(choice, frame) && shown.mark >= 0 && shown.answers.ready[view.head];
  frame.better = null;
  say(kindline.hint, choice.everHovered || view.locked || isMap(view.what) ? "" : whatToDo(lens.data, page));
  say(kindline.kind, readable ? kindNow(lens) : "");
  show(kindline.go, Boolean(readable && frame.better));
}

function kindNow({ choice, data, frame, page: { kindline } }) {
  const { view } = choice,
    { main } = data,
    { shown } = frame;
  const { pack, mark } = shown;
  const toward = directions(frame);
  if (!toward) return "";
  const at = view.head * pack.tokens;
  const row = shown.answers.weights.subarray(at, at + pack.tokens);
  const crowd = crowdNow(choice, frame);
  const facts = rowFacts(row, pack, mark, crowd, likenessOf(toward, mark));
  const one = !isPeak(facts) ? "" : crowd.most < pack.prefixCount ? "token" : "patch";
  const share = nearnessShare(choice, data, frame, mark);
  const plain = share === null ? null : isMuch(share);
  findBetter(choice, data, frame);
  const { better } = frame;
  if (better) say(kindline.go, `layer ${better.layer}, head ${main.pack.headNumbers[better.head]} shows more here`);
  return kindWords(kindOf(facts, isEarlyLayer(view.layer, pack.layers)), { one, plain });
}

// Where this patch shows clearly more than in the head on view.
function findBetter({ view }, data, frame) {
  const { main } = data,
    { shown } = frame;
  const scene = sceneOf(data);
  if (!scene || shown.altered || shown.pack !== main.pack) return;
  const heads = headsFor(scene, shown.mark);
  const [found] = heads;
  const here = heads.find(({ layer, head }) => layer === view.layer && head === view.head);
  if (found === here || found.tells < Math.max(STRIKING, MORE * (here?.tells ?? 0))) return;
  frame.better = { layer: found.layer, head: found.head, query: patchText(shown.mark, main.pack.columns) };
}

// What the patches of the pack on view are compared by; null while no late layer is here.
function directions({ kinds, shown }) {
  const { pack } = shown.drawn;
  const layers = telling(pack).length;
  if (!layers) return null;
  if (kinds.pack !== pack || kinds.layers !== layers) {
    kinds.crowds.clear();
    Object.assign(kinds, { pack, layers, toward: towardOf(pack) });
  }
  return kinds.toward;
}

function crowdNow({ view }, { kinds, shown }) {
  const key = `${view.layer} ${view.head} ${shown.scale}`;
  const found = kinds.crowds.get(key) ?? crowdOf(shown.pack, view.layer, view.head, shown.scale);
  kinds.crowds.delete(key);
  kinds.crowds.set(key, found);
  for (const old of kinds.crowds.keys()) if (kinds.crowds.size > CROWDS) kinds.crowds.delete(old);
  return found;
}
