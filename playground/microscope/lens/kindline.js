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

export function bindKindLine(lens) {
  const line = document.createElement("p");
  line.className = "kindline";
  line.innerHTML = KIND_LINE;
  lens.refs.pictureBox.after(line);
  const [hint, kind, go] = line.children;
  lens.kindline = {
    line,
    hint,
    kind,
    go,
    timer: 0,
    better: null,
    pack: null,
    layers: 0,
    toward: null,
    crowds: new Map(),
  };
  lens.nearness = { key: "", colours: null, row: null, patch: -1, print: null };
  go.addEventListener("click", () => {
    const { better, token } = lens.kindline;
    if (better) lens.choose({ layer: better.layer, head: better.head, query: token, locked: true });
  });
}

export function writeKindSoon(lens) {
  const { kindline } = lens;
  kindline.timer ||= setTimeout(() => {
    kindline.timer = 0;
    const { alive, main, shown, view } = lens;
    // The view may have gone on to a layer that is not here yet; it is written when that is painted.
    if (alive && main && !shown.layerMissing && holdsHead(shown.pack, view.layer, view.head)) writeKind(lens);
  }, BETWEEN);
}

function writeKind(lens) {
  const { kindline, shown, view } = lens;
  const weights = wayOf(view).rows; // of other rows the sentence names other patches
  const readable =
    weights && view.direction === "row" && !isMean(lens) && shown.mark >= 0 && shown.answers.ready[view.head];
  kindline.better = null;
  say(kindline.hint, lens.everHovered || view.locked || isMap(view.what) ? "" : whatToDo(lens));
  say(kindline.kind, readable ? kindNow(lens) : "");
  show(kindline.go, Boolean(readable && kindline.better));
}

function kindNow(lens) {
  const { shown, view, main, kindline } = lens;
  const { pack, mark } = shown;
  const toward = directions(lens);
  if (!toward) return "";
  const at = view.head * pack.tokens;
  const row = shown.answers.weights.subarray(at, at + pack.tokens);
  const crowd = crowdNow(lens);
  const facts = rowFacts(row, pack, mark, crowd, likenessOf(toward, mark));
  const one = !isPeak(facts) ? "" : crowd.most < pack.prefixCount ? "token" : "patch";
  const share = nearnessShare(lens, mark);
  const plain = share === null ? null : isMuch(share);
  findBetter(lens);
  if (kindline.better)
    say(
      kindline.go,
      `layer ${kindline.better.layer}, head ${main.pack.headNumbers[kindline.better.head]} shows more here`,
    );
  return kindWords(kindOf(facts, isEarlyLayer(view.layer, pack.layers)), { one, plain });
}

// Where this patch shows clearly more than in the head on view.
function findBetter(lens) {
  const { kindline, shown, view, main } = lens;
  const scene = sceneOf(lens);
  if (!scene || shown.altered || shown.pack !== main.pack) return;
  const heads = headsFor(scene, shown.mark);
  const [found] = heads;
  const here = heads.find(({ layer, head }) => layer === view.layer && head === view.head);
  if (found === here || found.tells < Math.max(STRIKING, MORE * (here?.tells ?? 0))) return;
  kindline.better = found;
  kindline.token = patchText(shown.mark, main.pack.columns);
}

// What the patches of the pack on view are compared by; null while no late layer is here.
function directions({ kindline, shown: { pack } }) {
  const layers = telling(pack).length;
  if (!layers) return null;
  if (kindline.pack !== pack || kindline.layers !== layers) {
    kindline.crowds.clear();
    Object.assign(kindline, { pack, layers, toward: towardOf(pack) });
  }
  return kindline.toward;
}

function crowdNow({ kindline, shown, view }) {
  const key = `${view.layer} ${view.head} ${shown.scale}`;
  const found = kindline.crowds.get(key) ?? crowdOf(shown.pack, view.layer, view.head, shown.scale);
  kindline.crowds.delete(key);
  kindline.crowds.set(key, found);
  for (const old of kindline.crowds.keys()) if (kindline.crowds.size > CROWDS) kindline.crowds.delete(old);
  return found;
}
