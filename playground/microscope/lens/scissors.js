// Scissors cut the edge from the locked patch to the patch under the cursor, and the whole pass runs again without that
// edge. A list shows each cut, its layers, how far it moves the locked patch's feature, the changed labels, and a
// button to undo it. Whole heads can be cut or silenced.
import { MOST_CUTS } from "../core/core.js";
import { percent, shortNumber } from "../core/numbers.js";
import { queryOf, sameToken, tokenOf } from "../core/view.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { askOnce } from "./asking.js";
import { verdictText } from "./readouts.js";
import { canAsk, isRowOpen } from "./state.js";

const NEIGHBOURS = "*>3x3";
const SILENCED_WORDS = { zero: "gives nothing", mean: "gives its mean" };
const INVITATION_TO_CUT = "Lock a patch, point at another and press x; or choose here.";

const CUTS_HTML = `
  <ol></ol>
  <p class="ways">
    <button class="quiet" data-way="head" title="In this head every token looks at itself alone">cut this head</button>
    <button class="quiet" data-way="mean" title="This head gives its mean over all tokens to everybody"
      >this head off</button>
    <button class="quiet" data-way="neighbours"
        title="Every patch looks at its eight neighbours alone: attention as a convolution">cut all but 3×3</button>
    <button class="quiet" data-way="put"
        title="After this layer the locked patch carries what the compared one has there"
      >put the other picture's patch here</button>
  </p>
  <p role="status"></p>
  <p data-labels></p>`;

export function bindScissors(lens) {
  const { choice, page } = lens;
  const box = make("div", { className: "cuts", innerHTML: CUTS_HTML });
  const title = "Cut this edge: the whole pass runs again without it (key x)";
  const button = make("button", { className: "pair-cut", title, onclick: () => cutAimed(lens) }, "✂ cut");
  page.refs.change.append(box);
  page.line.box.append(button);
  const [list, , status, labels] = box.children;
  /** @type {NodeListOf<HTMLElement>} */
  const wayButtons = box.querySelectorAll("[data-way]");
  const ways = Object.fromEntries([...wayButtons].map((way) => [way.dataset.way, way]));
  page.scissors = { box, list, ways, status, labels, button, shown: "" };
  const addCut = (text) => putCuts(page, [...cutsOf(choice), text]);
  ways.neighbours.addEventListener("click", () => addCut(NEIGHBOURS));
  ways.head.addEventListener("click", () => addCut(headCut(lens)));
  ways.mean.addEventListener("click", () => addCut(headOffCut(lens)));
  ways.put.addEventListener("click", () => addCut(putOf(lens)));
}

const headCut = ({ view, main }) => `*>*@${view.layer}.${main.pack.headNumbers[view.head]}`;

const headOffCut = ({ view, main }) => `mean@${view.layer}.${main.pack.headNumbers[view.head]}`;

// The compared sample's patch at the place of the locked one; "" if there is none, or it stands here already.
function putOf({ data, view, main, other }) {
  const isSample = view.beside === "compare" && other?.trace.words?.sample && other.trace.model === main.trace.model;
  if (!canAsk(data, "puts") || !view.locked || !isSample) return "";
  const there = queryOf(sameToken(tokenOf(view.query, main.pack), main.pack, other.pack), other.pack);
  const put = `residual@${view.layer}:${view.query}${there === view.query ? "" : `<${there}`}`;
  return cutsOf({ view }).includes(put) ? "" : put; // as in playground/cuts.py
}

export const cutsOf = ({ view }) => (view.cut ? view.cut.split(";") : []);

function putCuts(page, cuts) {
  const unique = [...new Set(cuts)].slice(0, MOST_CUTS);
  page.choose({ cut: unique.join(";") });
}

export const canCut = ({ choice, data, frame }) =>
  canAsk(data, "cuts") && choice.view.locked && choice.aim >= 0 && choice.aim !== frame.shown.token;

export function cutAimed(lens) {
  const { choice, page, main, shown } = lens;
  if (!canCut(lens)) return;
  putCuts(page, [...cutsOf(choice), `${queryOf(shown.token, main.pack)}>${queryOf(choice.aim, main.pack)}`]);
}

// Paints the button beside the label in each frame, and the list of cuts if it has changed.
export function paintScissors(lens) {
  const { choice, data, frame, page, view } = lens;
  const { scissors, line } = page;
  setVisible(scissors.button, canCut(lens));
  if (canCut(lens)) {
    for (const name of ["--x", "--top", "--bottom"])
      scissors.button.style.setProperty(name, line.label.style.getPropertyValue(name));
    scissors.button.classList.toggle("above", line.label.classList.contains("above"));
  }
  if (!isRowOpen(page, "change")) return;
  const key = `${view.cut} ${view.layer} ${view.head}`;
  if (scissors.shown !== key) writeCuts(lens);
  scissors.shown = key;
  const { ways } = scissors;
  setVisible(ways.head, !cutsOf(choice).includes(headCut(lens)));
  setVisible(ways.mean, !cutsOf(choice).includes(headOffCut(lens)));
  setVisible(ways.put, Boolean(putOf(lens)));
  setVisible(ways.neighbours, !cutsOf(choice).some((cut) => cut.startsWith(NEIGHBOURS)));
  setText(scissors.status, view.cut ? movedSentence(lens) : INVITATION_TO_CUT);
  const verdict = frame.shown.wholeArrived ? data.whole.trace.verdict : null;
  setVisible(scissors.labels, Boolean(view.cut) && verdict?.length > 0);
  if (verdict?.length) setText(scissors.labels, verdictText(verdict));
}

function writeCuts(lens) {
  const { choice, page } = lens;
  const cuts = cutsOf(choice);
  page.scissors.list.replaceChildren(
    ...cuts.map((cut, index) => {
      const [edge, layers = ""] = cut.split("@");
      const chooser = !interventionWords(cut) && placeChooser(lens, edge, layers, index);
      return make(
        "li",
        "",
        make("span", "", interventionWords(cut) || `✂ ${edgeWords(edge)}`),
        chooser,
        undoButton(lens, index),
      );
    }),
  );
}

export const cutWords = (cut) => interventionWords(cut) || `✂ ${whoseWords(cut)}${edgeWords(cut.split("@")[0])}`;
const whoseWords = (cut) =>
  SILENCED_WORDS[cut.split("@")[0]] ? `${cut.includes(".") ? "head" : "layer"} ${cut.split("@")[1]} ` : "";

// A cut edge in words, such as "row 7, column 5 ⇢ row 3, column 2" for "7,5>3,2".
function edgeWords(edge) {
  if (SILENCED_WORDS[edge]) return SILENCED_WORDS[edge];
  const [hearer, heard] = edge.split(">");
  const name = hearer === "*" ? "everybody" : hearer;
  const heardNames = heard.split("+");
  if (heardNames[0] === "3x3") return `${name} ⇢ 3×3 alone`;
  if (heard === "*") return `${name} ⇢ themselves alone`;
  return `${name} ⇢ ${heardNames.length > 3 ? `${heardNames.length} patches` : heardNames.join(", ")}`;
}

// Describes an intervention that puts a value into the pass, such as "residual@6:7,5", "head@4.1" or "zero@4.1>5.3".
// Returns "" for a cut.
export function interventionWords(text) {
  const [, part, place, tokens, source] = /^(\w+)@([^:>]+)(?::(.+)|>(.+))?$/.exec(text) ?? [];
  if (!part || (SILENCED_WORDS[part] && !source)) return "";
  const effectWords = SILENCED_WORDS[part] ? "gives nothing" : "of the other picture is heard";
  if (source) return `head ${place} ${effectWords}, for head ${source} alone`;
  const partWords = part === "head" ? `head ${place}` : `the ${part} of layer ${place}`;
  const placeWords = tokens ? `, at ${tokens.split("+").join(" and ").replaceAll("<", " from ")}` : "";
  return `${partWords}: the other picture’s${placeWords}`;
}

function placeChooser({ choice, page, view, main }, edge, layersText, index) {
  const head = main.pack.headNumbers[view.head];
  const places = [
    ...(SILENCED_WORDS[edge] ? [] : [["", "in all layers"]]),
    [`${view.layer}`, `in layer ${view.layer}`],
    [`${view.layer}.${head}`, `in layer ${view.layer}, head ${head}`],
  ];
  if (!places.some(([place]) => place === layersText))
    places.push([layersText, `in layer ${layersText.replace(".", ", head ")}`]);
  const chooser = make("select", { "aria-label": "Where this edge is cut" });
  for (const [place, words] of places) chooser.add(new Option(words, place, false, place === layersText));
  chooser.addEventListener("change", () => {
    const cuts = cutsOf(choice);
    cuts[index] = chooser.value ? `${edge}@${chooser.value}` : edge;
    putCuts(page, cuts);
  });
  return chooser;
}

const undoButton = ({ choice, page }, index) =>
  make(
    "button",
    { "aria-label": "Undo this cut", onclick: () => putCuts(page, cutsOf(choice).toSpliced(index, 1)) },
    "×",
  );

// The sentence about how far the locked patch's feature moved, compared with control cuts that remove the same total
// attention.
function movedSentence(lens) {
  const { data, view, whole, main, shown } = lens;
  const { moved } = data;
  if (!shown.wholeArrived) return "The whole pass runs again…";
  if (!view.locked) return "Lock a patch: how far has its feature moved?";
  const query = queryOf(shown.token, main.pack);
  const passKey = `${whole.id} ${query}`;
  if (moved.key === passKey) return moved.text;
  const sendRequest = (options) => data.host.source.moved(whole.trace, query, options);
  askOnce(lens, "moved", passKey, sendRequest, (answer) => {
    Object.assign(moved, { key: passKey, text: movedWords(answer) });
  });
  return "Measuring how far its feature moves…";
}

// zero: how far it moves where heads give nothing instead of their mean.
export function movedWords({ by: share, times: factor, zero }) {
  const distance = `This patch's feature moved by ${percent(share)} of its length`;
  if (zero !== undefined) {
    const verdict = zero > share ? ": zeros overstate here" : "";
    return `${distance}; with nothing instead of the mean, by ${percent(zero)}${verdict}.`;
  }
  if (factor === undefined) return `${distance}.`;
  return `${distance}: ${shortNumber(factor)} × as far as where as much attention to other patches is cut.`;
}
