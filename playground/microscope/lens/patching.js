// Patching: the locked patch carries, after the layer on view, what the compared picture has at the same place, and the
// network goes on from there. What changes is drawn small, with the labels' numbers.

import { decodeHalves, largestIndex } from "../core/core.js";
import { percent } from "../core/numbers.js";
import { queryOf, sameToken, tokenOf } from "../core/view.js";
import { say, show } from "../drawing/dom.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { askOnce } from "./asking.js";
import { tokenName, verdictOf } from "./readouts.js";
import { canAsk } from "./shown.js";

const MAP_WIDTH = 220; // pixels of the small map

export function bindPatching(lens) {
  const box = document.createElement("div");
  box.className = "patching";
  box.innerHTML = `<button class="quiet"></button><div></div><p role="status"></p><button class="close">×</button>`;
  box.hidden = true;
  lens.refs.twin.after(box); // above the second picture: what comes and goes moves nothing else
  const [button, map, said, close] = box.children;
  close.setAttribute("aria-label", "Close what the patch changes");
  lens.patching = { box, button, map, said, close, wanted: "", key: "", text: "" };
  close.addEventListener("click", () => {
    Object.assign(lens.patching, { wanted: "", key: "" });
    lens.schedule();
  });
  button.addEventListener("click", () => {
    lens.patching.wanted = wantedPatch(lens).key;
    lens.schedule();
  });
}

function wantedPatch(lens) {
  const { view, main, other } = lens;
  const token = tokenOf(view.query, main.pack);
  const there = sameToken(token, main.pack, other.pack);
  const { sample, mine } = other.trace.words ?? {};
  const words = {
    query: view.query,
    there: queryOf(there, other.pack),
    layer: view.layer,
    with: sample ? `sample:${sample}` : `mine:${mine}`,
  };
  return { token, words, key: `${main.id} ${Object.values(words).join(" ")}` };
}

const canPatch = (lens) =>
  canAsk(lens, "patched") &&
  lens.view.beside === "compare" &&
  lens.other &&
  lens.other.trace.model === lens.main.trace.model;

export function paintPatching(lens) {
  const { patching, view, main } = lens;
  const here = Boolean(canPatch(lens)) && !view.cut && view.locked; // it would cover what the cursor asks
  show(patching.box, here);
  if (!here) return;
  const now = wantedPatch(lens);
  const name = tokenName(now.token, main.pack);
  const shown = patching.key === now.key;
  show(patching.button, !shown);
  show(patching.map, shown);
  show(patching.close, shown);
  say(patching.button, `put this ${name} into the first picture, after layer ${view.layer}`);
  if (shown) return say(patching.said, patching.text);
  if (patching.wanted !== now.key) return say(patching.said, "");
  say(patching.said, "The network goes on from there…");
  const question = (how) => lens.host.source.patched(main.trace, now.words, how);
  askOnce(lens, "patched", now.key, question, (found) => takePatched(lens, now, found));
}

function takePatched(lens, { key, token }, { matrix, labels }) {
  const { patching, main, photo, view } = lens;
  const { pack } = main;
  const values = decodeHalves(matrix).slice();
  const own = values[token];
  values[token] = 0; // it moves most of all, being another
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
  const told = labels?.length ? ` ${verdictOf(labels)}.` : "";
  Object.assign(patching, { key, text: `${words} Its own feature moves by ${percent(own)}; ${others}.${told}` });
}
