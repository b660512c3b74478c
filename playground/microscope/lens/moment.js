// The best moment of the picture on view: looked for between frames, once the layers are here. A person's own
// photograph opens in it, unless somebody has touched the picture; the key b goes through more of them.

import { holdsAll } from "../core/core.js";
import { patchText } from "../core/grid.js";
import { directionsOf, keysOf } from "../core/kinds.js";
import { STRIKING, searchMoments, surprisesOf, telling } from "../core/moments.js";
import { upperLayer } from "../core/view.js";
import { FIRST_WAY, wayOf } from "../core/ways.js";
import { say } from "../drawing/dom.js";
import { canAsk, layersAtHand } from "./shown.js";

const QUIET = 120; // ms without a frame before the search begins, or goes on
const STINT = 6; // ms of one part of the search
const UNSTRIKING = "Nothing far apart stands out here.";
const POINTED = 4; // CSS pixels, as in ghost.js

export function bindMoment(lens) {
  lens.moment = {
    picture: "", //    the one on view, and its model
    given: false, //   an address named what is to be seen of it
    touched: false, // somebody has chosen something, or pointed at it
    greeted: false, // the soft cursor has shown somebody's own picture
    timer: 0,
    search: null, //   {id: of the entry, pack, steps, scene: what it found, layers: of what, moved}: of one picture at a time
    wished: false, //  "surprise me" waits for the search
    at: -1, //         which of the surprises is on view
  };
  const { moment } = lens;
  const { choose } = lens;
  lens.choose = (change, from) => {
    moment.touched = lens.everHovered = true;
    choose(change, from);
  };
  let from = null;
  lens.refs.picture.addEventListener("pointermove", (event) => {
    from ??= event;
    if (Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) > POINTED) moment.touched = true;
  });
  lens.refs.picture.addEventListener("pointerdown", () => {
    moment.touched = true;
  });
}

// `view`: what came with the picture that is on view now.
export function noteOpening(lens, view) {
  const { moment, main } = lens;
  const picture = `${main.picture.id} ${main.trace.model}`;
  const named = ["layer", "head", "query"].some((key) => (view?.[key] ?? null) !== null);
  if (picture !== moment.picture) {
    Object.assign(moment, { picture, given: named, touched: false, at: -1, wished: false });
    say(lens.refs.message, ""); // of the former picture
  } else if (named) moment.given = true;
}

// After each frame: what is there to look for is looked for when there has been none for a while.
export function lookForMoment(lens) {
  const { moment } = lens;
  clearTimeout(moment.timer);
  if (nextOf(lens)) moment.timer = setTimeout(() => workOn(lens), QUIET);
}

// The search of the entry on view, if there is something left of it to do.
function nextOf({ main, moment }) {
  if (!main || main.trace.words?.first) return null; // a coarse look; the finer one comes
  const { pack, id } = main;
  const layers = telling(pack);
  const whole = layers.length === pack.layers - Math.floor(pack.layers / 2);
  if (!whole && !(moment.wished && layers.length)) return null;
  let { search } = moment;
  if (search?.id !== id || search.pack !== pack || search.layers < layers.length)
    search = moment.search = { id, pack, steps: null, scene: null, layers: layers.length, moved: false };
  return search.scene && search.moved ? null : search;
}

function workOn(lens) {
  const { moment, main } = lens;
  const search = lens.alive ? nextOf(lens) : null;
  if (!search) return;
  const until = performance.now() + STINT;
  search.steps ??= searchMoments(main.pack, comparedBy(main.pack));
  while (!search.scene) {
    const { done, value } = search.steps.next();
    if (done) search.scene = value;
    else if (performance.now() > until) {
      moment.timer = setTimeout(() => workOn(lens), 0);
      return;
    }
  }
  search.moved = true;
  if (moment.wished) surprise(lens);
  else moveToBest(lens, search.scene);
  lens.schedule(); // what is said of the row may say more now
}

// What the patches are compared by: the keys of a late layer.
export function comparedBy(pack) {
  const late = upperLayer(pack);
  return keysOf(pack, holdsAll(pack, late) ? late : telling(pack).at(-1));
}

export const sceneOf = ({ moment, main }) => (moment.search?.id === main.id ? moment.search.scene : null);

// A person's own photograph moves once, and nobody's choice is overruled. Where nothing strikes, it shows its parts.
function moveToBest(lens, scene) {
  const { moment, main, view } = lens;
  const [{ layer, head, patches, tells }] = scene.moments;
  const plain = view.direction === "row" && wayOf(view).rows && !view.locked;
  if (!main.trace.private || moment.touched || moment.given || !plain) return;
  if (tells[0] < STRIKING && canAsk(lens, "features")) {
    lens.view = { ...view, what: "components", layer: upperLayer(main.pack) };
    say(lens.refs.message, UNSTRIKING);
  } else if (tells[0]) lens.view = { ...view, layer, head, query: patchText(patches[0], main.pack.columns) };
  else return;
  lens.hover = -1; // a cursor that rests there has not asked
  lens.opens({ greets: !moment.greeted });
  moment.greeted = true;
}

// The patches of the head on view that show most, the best one last: what the soft cursor goes to. null: not known.
export function tellingPatches(lens) {
  const { view } = lens;
  const found = sceneOf(lens)?.moments.find(({ layer, head }) => layer === view.layer && head === view.head);
  const told = found?.patches.filter((_, i) => found.tells[i] > 0).reverse();
  return told?.length ? told : null;
}

// Another of the most telling rows, of any head; round and round.
export function surprise(lens) {
  const { moment, main, refs } = lens;
  const scene = sceneOf(lens);
  const rows = scene ? surprisesOf(scene) : [];
  if (!rows.length) {
    moment.wished = !scene;
    if (scene) return say(refs.message, UNSTRIKING);
    if (canAsk(lens, "layers")) lens.film.wanted = true;
    else if (!layersAtHand(lens).some((layer) => telling(main.pack).includes(layer))) return;
    return lens.schedule();
  }
  moment.wished = false;
  moment.at = (moment.at + 1) % rows.length;
  const { layer, head, patch } = rows[moment.at];
  lens.hover = -1;
  const what = wayOf(lens.view).rows ? lens.view.what : FIRST_WAY; // parts in colour show no row
  lens.choose({ what, layer, head, query: patchText(patch, main.pack.columns), locked: true });
}

export const towardOf = (pack) => directionsOf(comparedBy(pack));
