// Painting with the scissors: the patches that a drag touches shall not be heard. With the keyboard: arrows move, the
// space bar takes a patch or leaves it, Enter cuts, Escape ends.

import { patchAfterKey, patchAt, patchText } from "../core/grid.js";

const LONGEST = 1000; // letters of all cuts, as in figures/view.py

// `cut(texts)` makes the cut; `words(sentence)` says something.
export function bindPainting(lens, { cut, words }) {
  const { picture, pictureBox } = lens.refs;
  pictureBox.insertAdjacentHTML("beforeend", '<svg class="painted" preserveAspectRatio="none"></svg>');
  const sheet = pictureBox.lastElementChild;
  const painting = { on: false, patches: new Set(), at: 0, takes: true, down: false, sheet };
  lens.painting = painting;

  const patchUnder = (event) => {
    const box = picture.getBoundingClientRect();
    const { rows, columns } = lens.main.pack;
    return patchAt((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height, rows, columns);
  };
  const put = (patch, takes) => {
    painting.at = patch;
    if (takes) painting.patches.add(patch);
    else painting.patches.delete(patch);
    paintPainting(lens);
    words(paintingWords(lens));
  };
  const hands = {
    pointerdown(event) {
      painting.down = true;
      painting.takes = !painting.patches.has(patchUnder(event));
      picture.setPointerCapture?.(event.pointerId);
      picture.focus();
      put(patchUnder(event), painting.takes);
    },
    pointermove(event) {
      if (painting.down) put(patchUnder(event), painting.takes);
    },
    pointerup: () => (painting.down = false),
    pointercancel: () => (painting.down = false),
    click: () => {},
  };
  for (const [name, hand] of Object.entries(hands)) {
    pictureBox.addEventListener(
      name,
      (event) => {
        if (!painting.on || event.target !== picture) return;
        event.stopPropagation(); // a patch that is painted is not locked
        hand(event);
      },
      true,
    );
  }
  lens.root.addEventListener(
    "keydown",
    (event) => {
      if (!painting.on || event.ctrlKey || event.metaKey || event.altKey) return;
      const { rows, columns } = lens.main.pack;
      if (event.key === "Escape") endPainting(lens);
      else if (event.target !== picture) return;
      else if (event.key.startsWith("Arrow")) painting.at = patchAfterKey(event.key, painting.at, rows, columns);
      else if (event.key === " ") put(painting.at, !painting.patches.has(painting.at));
      else if (event.key === "Enter") cutPainted(lens, cut, words);
      else return;
      event.preventDefault();
      event.stopPropagation();
      paintPainting(lens);
      words(paintingWords(lens));
    },
    true,
  );
}

export function beginPainting(lens) {
  const { painting, view, main } = lens;
  Object.assign(painting, { on: true, down: false, patches: new Set() });
  const [row, column] = view.query.split(",").map(Number);
  painting.at = column === undefined ? 0 : row * main.pack.columns + column;
  lens.refs.picture.focus();
  paintPainting(lens);
}

export function endPainting(lens) {
  Object.assign(lens.painting, { on: false, down: false, patches: new Set() });
  paintPainting(lens);
}

export function cutPainted(lens, cut, words) {
  const { painting, view, main } = lens;
  const heard = [...painting.patches].sort((a, b) => a - b).map((patch) => patchText(patch, main.pack.columns));
  if (!heard.length) return words("Paint some patches first: drag over them.");
  const text = `${view.locked ? view.query : "*"}>${heard.join("+")}`;
  if (view.locked && heard.length === 1 && heard[0] === view.query) return words("A patch always hears itself.");
  if (text.length + view.cut.length + 1 > LONGEST)
    return words(`These ${heard.length} patches are too many for an address: paint fewer.`);
  endPainting(lens);
  cut(text);
}

export function paintingWords({ painting, view }) {
  if (!painting.on) return "";
  const count = painting.patches.size;
  const who = view.locked ? "by the locked patch" : "by anybody";
  const of = count === 1 ? "1 patch" : `${count} patches`;
  return count ? `${of} shall not be heard ${who}.` : `Drag over the patches that shall not be heard ${who}.`;
}

function paintPainting({ painting, main, refs }) {
  const { rows, columns } = main.pack;
  const { sheet } = painting;
  refs.pictureBox.classList.toggle("painting", painting.on);
  sheet.toggleAttribute("hidden", !painting.on); // an SVG has no such property
  sheet.setAttribute("viewBox", `0 0 ${columns} ${rows}`);
  const cell = (patch, name) => {
    const rect = document.createElementNS(sheet.namespaceURI, "rect");
    const place = { x: patch % columns, y: Math.floor(patch / columns), width: 1, height: 1, class: name };
    for (const [key, value] of Object.entries(place)) rect.setAttribute(key, value);
    return rect;
  };
  sheet.replaceChildren(...[...painting.patches].map((patch) => cell(patch, "taken")), cell(painting.at, "at"));
}
