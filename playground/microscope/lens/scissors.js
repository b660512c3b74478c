// Scissors: the edge from the locked patch to the one that is pointed at is cut, and the whole pass runs again without
// it. What is cut is listed on the picture: where it holds, how far it moves the locked patch's feature, what becomes
// of the labels, its undoing. Sets of patches are painted (see scissors.js), and a head is cut whole.
import { MOST_CUTS } from "../core/cuts.js";
import { patchAfterKey, patchAt, patchText } from "../core/grid.js";
import { percent, shortNumber } from "../core/numbers.js";
import { queryOf } from "../core/view.js";
import { say, show } from "../drawing/dom.js";
import { askOnce } from "./asking.js";
import { verdictOf } from "./readouts.js";
import { canAsk } from "./shown.js";

const NEIGHBOURS = "*>3x3";
const INVITES = "Lock a patch, point at another and press x; or choose here.";

const CUTS = `
  <ol></ol>
  <p class="ways">
    <button class="quiet" data-way="paint" title="Drag over patches that shall not be heard">paint patches</button>
    <button class="quiet" data-way="made">cut these</button>
    <button class="quiet" data-way="head" title="In this head everybody hears themselves alone">cut this head</button>
    <button class="quiet" data-way="neighbours"
        title="Every patch hears its eight neighbours alone: attention as a convolution">cut all but 3×3</button>
  </p>
  <p role="status"></p>
  <p data-labels></p>`;

export function bindScissors(lens) {
  const box = document.createElement("div");
  box.className = "cuts";
  box.innerHTML = CUTS;
  const button = document.createElement("button");
  button.className = "pair-cut";
  button.title = "Cut this edge: the whole pass runs again without it (key x)";
  button.textContent = "✂ cut";
  lens.refs.pictureBox.append(box);
  lens.line.box.append(button);
  const tool = document.createElement("button");
  tool.textContent = "Scissors";
  tool.title = "Cut edges of the attention, and run the whole pass again without them";
  lens.refs.drawing.before(tool);
  const [list, , said, labels] = box.children;
  const ways = Object.fromEntries([...box.querySelectorAll("[data-way]")].map((way) => [way.dataset.way, way]));
  const moved = { key: "", text: "" };
  lens.scissors = { box, list, ways, said, labels, button, tool, open: false, shown: "", words: "", moved };
  const cut = (text) => putCuts(lens, [...cutsOf(lens), text]);
  const words = (sentence) => {
    lens.scissors.words = sentence;
    lens.schedule();
  };
  bindPainting(lens, { cut, words });
  button.addEventListener("click", () => cutAimed(lens));
  tool.addEventListener("click", () => {
    lens.scissors.open = !lens.scissors.open;
    if (!lens.scissors.open) endPainting(lens);
    words("");
  });
  ways.neighbours.addEventListener("click", () => cut(NEIGHBOURS));
  ways.head.addEventListener("click", () => cut(headText(lens)));
  ways.made.addEventListener("click", () => cutPainted(lens, cut, words));
  ways.paint.addEventListener("click", () => {
    if (lens.painting.on) endPainting(lens);
    else beginPainting(lens);
    words(paintingWords(lens));
  });
}

const headText = ({ view, main }) => `*>*@${view.layer}.${main.pack.headNumbers[view.head]}`;

const cutsOf = ({ view }) => (view.cut ? view.cut.split(";") : []);

function putCuts(lens, cuts) {
  const kept = [...new Set(cuts)].slice(0, MOST_CUTS);
  lens.choose({ cut: kept.join(";") });
}

export const canCut = (lens) =>
  canAsk(lens, "cuts") && lens.view.locked && lens.aim >= 0 && lens.aim !== lens.shown.token;

export function cutAimed(lens) {
  if (!canCut(lens)) return;
  const { main, shown, aim } = lens;
  putCuts(lens, [...cutsOf(lens), `${queryOf(shown.token, main.pack)}>${queryOf(aim, main.pack)}`]);
}

// Each frame: the button beside the label, and the list where it is another one.
export function paintScissors(lens) {
  const { scissors, view, line } = lens;
  show(scissors.button, canCut(lens));
  if (canCut(lens)) {
    for (const name of ["--x", "--top", "--bottom"])
      scissors.button.style.setProperty(name, line.label.style.getPropertyValue(name));
    scissors.button.classList.toggle("above", line.label.classList.contains("above"));
  }
  const here = canAsk(lens, "cuts") && (scissors.open || Boolean(view.cut));
  show(scissors.tool, canAsk(lens, "cuts"));
  scissors.tool.setAttribute("aria-pressed", String(here));
  show(scissors.box, here);
  if (!here) return;
  const key = `${view.cut} ${view.layer} ${view.head}`;
  if (scissors.shown !== key) writeCuts(lens);
  scissors.shown = key;
  const { ways } = scissors;
  const paints = lens.painting.on;
  say(ways.paint, paints ? "stop painting" : "paint patches");
  show(ways.made, paints);
  show(ways.head, !paints && !cutsOf(lens).includes(headText(lens)));
  show(ways.neighbours, !paints && !cutsOf(lens).some((cut) => cut.startsWith(NEIGHBOURS)));
  say(scissors.said, paints ? paintingWords(lens) : view.cut ? whatMoved(lens) : scissors.words || INVITES);
  const verdict = lens.shown.wholeArrived ? lens.whole.trace.verdict : null;
  show(scissors.labels, Boolean(view.cut) && verdict?.length > 0);
  if (verdict?.length) say(scissors.labels, verdictOf(verdict));
}

function writeCuts(lens) {
  const cuts = cutsOf(lens);
  lens.scissors.list.replaceChildren(
    ...cuts.map((cut, at) => {
      const item = document.createElement("li");
      const [edge, where = ""] = cut.split("@");
      const name = document.createElement("span");
      name.textContent = `✂ ${edgeWords(edge)}`;
      item.append(name, placeChooser(lens, edge, where, at), undoButton(lens, at));
      return item;
    }),
  );
}

// "7,5>3,2" → "row 7, column 5 ⇢ row 3, column 2", short.
function edgeWords(edge) {
  const [who, whom] = edge.split(">");
  const name = who === "*" ? "everybody" : who;
  const words = whom.split("+");
  if (words[0] === "3x3") return `${name} ⇢ 3×3 alone`;
  if (whom === "*") return `${name} ⇢ themselves alone`;
  return `${name} ⇢ ${words.length > 3 ? `${words.length} patches` : words.join(", ")}`;
}

function placeChooser(lens, edge, where, at) {
  const { view, main } = lens;
  const head = main.pack.headNumbers[view.head];
  const places = [
    ["", "in all layers"],
    [`${view.layer}`, `in layer ${view.layer}`],
    [`${view.layer}.${head}`, `in layer ${view.layer}, head ${head}`],
  ];
  if (!places.some(([place]) => place === where)) places.push([where, `in layer ${where.replace(".", ", head ")}`]);
  const chooser = document.createElement("select");
  chooser.setAttribute("aria-label", "Where this edge is cut");
  for (const [place, words] of places) chooser.add(new Option(words, place, false, place === where));
  chooser.addEventListener("change", () => {
    const cuts = cutsOf(lens);
    cuts[at] = chooser.value ? `${edge}@${chooser.value}` : edge;
    putCuts(lens, cuts);
  });
  return chooser;
}

function undoButton(lens, at) {
  const undo = document.createElement("button");
  undo.textContent = "×";
  undo.setAttribute("aria-label", "Undo this cut");
  undo.addEventListener("click", () => putCuts(lens, cutsOf(lens).toSpliced(at, 1)));
  return undo;
}

// How far the locked patch's feature has moved, beside cuts of as much attention to other patches.
function whatMoved(lens) {
  const { scissors, view, shown, whole, main } = lens;
  if (!shown.wholeArrived) return "The whole pass runs again…";
  if (!view.locked) return "Lock a patch: how far has its feature moved?";
  const query = queryOf(shown.token, main.pack);
  const key = `${whole.id} ${query}`;
  if (scissors.moved.key === key) return scissors.moved.text;
  const question = (how) => lens.host.source.moved(whole.trace, query, how);
  askOnce(lens, "moved", key, question, (found) => {
    scissors.moved = { key, text: movedWords(found) };
  });
  return "Measuring how far its feature moves…";
}

export function movedWords({ by, times }) {
  const far = `This patch's feature moved by ${percent(by)} of its length`;
  if (times === undefined) return `${far}.`;
  return `${far}: ${shortNumber(times)} × as far as where as much attention to other patches is cut.`;
}

// Painting with the scissors: the patches that a drag touches shall not be heard. With the keyboard: arrows move, the
// space bar takes a patch or leaves it, Enter cuts, Escape ends.

const LONGEST = 1000; // letters of all cuts, as in figures/drawing/view.py

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
