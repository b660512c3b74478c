// The rows of controls beside the picture: each is one line that says its present value. A press opens it in place, and
// closes the one that was open.

import { wayOf, wayWords } from "../core/ways.js";
import { setMath, setVisible } from "../drawing/dom.js";
import { refresh } from "./layout.js";
import { divisorOf, labelText, scaleText, titleOf } from "./readouts.js";
import { cutsOf, cutWords } from "./scissors.js";
import { canAsk, isMap, isRowOpen } from "./state.js";

export const rowMarkup = (name, title, body, className = "") => `
    <section class="row" data-row="${name}">
      <button class="opens" aria-expanded="false"><span>${title}</span> <b></b></button>
      <div class="row-body ${className}">${body}
      </div>
    </section>`;

export function bindRows(lens) {
  const { page } = lens;
  page.refs.rows.addEventListener("click", ({ target }) => {
    const name = target.closest(".opens")?.parentElement.dataset.row;
    if (name) openRow(lens, isRowOpen(page, name) ? "" : name);
  });
}

export function openRow(lens, name) {
  const { page } = lens;
  const { rows } = page.refs;
  page.openRow = name;
  for (const row of rows.children) {
    row.classList.toggle("open", row.dataset.row === name);
    row.firstElementChild.setAttribute("aria-expanded", String(row.dataset.row === name));
  }
  refresh(lens); // the canvases of the open row have a size now
  rows.scrollTop = name ? rows.querySelector(".open").offsetTop : 0;
}

// A second picture is looked at as soon as it is chosen, by a link, a key or the toolbar too.
export function openChosenRow(lens) {
  const { choice, page } = lens;
  const { beside } = choice.view;
  if (page.openedBeside === beside) return;
  page.openedBeside = beside;
  if (beside === "compare" || beside === "filter") openRow(lens, "beside");
}

export function writeRows(lens) {
  const { choice, data, page } = lens;
  const values = valuesOf(lens);
  for (const row of page.refs.rows.children) {
    const value = row.firstElementChild.lastElementChild;
    const text = inOneLine(values[row.dataset.row]);
    setMath(value, text);
    row.firstElementChild.title = text;
  }
  const canChange = canAsk(data, "cuts") || Boolean(choice.view.cut);
  setVisible(page.refs.change.closest(".row"), canChange);
}

const inOneLine = (texts) => texts.filter(Boolean).join(", ");
export const whatIsDrawn = (lens) => inOneLine(valuesOf(lens).what);

// What each row says: the value, then whatever differs from the usual. The title holds what has no room.
function valuesOf(lens) {
  const { choice, view, main, other } = lens;
  const { pack } = main;
  const way = wayOf(view);
  const label = labelText(lens);
  const cuts = cutsOf(choice);
  return {
    what: [
      wayWords(way, "tab").replace("W<sub>O</sub>", "W_O") + (label && ` of “${label}”`),
      view.direction === "column" && !isMap(view.what) && "who looks",
      view.ceiling !== "auto" && "exposure held",
    ],
    head: [
      way.throughLayers ? "all layers" : `layer ${view.layer}`,
      way.ofHeads && `head ${pack.headNumbers[view.head]}`,
    ],
    scale: [scaleValue(view, pack), view.pass === "whole" ? "whole pass" : "this layer", view.curtain > 0 && "curtain"],
    beside: {
      convolution: ["3×3 convolution"],
      wall: ["all heads"],
      compare: [other ? titleOf(other) : "another picture"],
      filter: ["no network"],
    }[view.beside],
    change: [cuts.length > 1 ? `${cuts.length} changes` : cuts.length ? cutWords(cuts[0]) : "nothing cut"],
  };
}

function scaleValue({ scale }, pack) {
  if (scale === "on") return pack.scale === 1 ? "scores as given" : `÷ ${divisorOf(pack)}`;
  return scale === "off" ? `without ÷ ${divisorOf(pack)}` : `scores × ${scaleText(scale)}`;
}
