// What the buttons and sliders show: always what the view says, whoever changed it.

import { scaleOf, scaleToDial } from "../core/view.js";
import { canBeLit } from "../core/ways.js";
import { makeCanvas, say, show } from "../drawing/dom.js";
import { layerRange, prefixName, saidHere } from "./readouts.js";
import { canAsk, layersAtHand } from "./shown.js";

// What the canvas of the second picture shows.
const TWINS = {
  convolution: "What a convolution reads at the same patch",
  compare: "The compared picture, asked at the same place",
  filter: "What colour and nearness alone light from the same patch",
};

// What a button with a data-value stands for: true, a number or a word.
export function valueOfButton(button) {
  const text = button.dataset.value;
  if (text === "true" || text === "false") return text === "true";
  return text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;
}

// What is drawn, where the view asks for what cannot be.
const chosen = (view, key) => (key === "draw" && !canBeLit(view) ? "heat" : view[key]);

// `from`: the control that is being moved, which is left as it is.
export function showChoices(choice, data, page, from = "") {
  const { view } = choice,
    { main } = data,
    { root, refs } = page;
  for (const group of root.querySelectorAll("[data-choice]")) {
    for (const button of group.querySelectorAll("[data-value]")) {
      button.setAttribute("aria-pressed", String(valueOfButton(button) === chosen(view, group.dataset.choice)));
    }
  }
  root.querySelector('[data-choice="draw"] [data-value="light"]').disabled = !canBeLit(view);
  show(refs.link, data.host.link !== null);
  show(refs.showMe, Boolean(data.host.showMe));
  for (const element of root.querySelectorAll("[data-ask]")) show(element, canAsk(data, element.dataset.ask));
  for (const element of root.querySelectorAll("[data-section]"))
    show(element, Boolean(main.pack.header.sections[element.dataset.section]));
  show(refs.wallTab, main.pack.stored.size > 1 || canAsk(data, "layers")); // of one layer all heads are shown anyway
  show(refs.compareTab, Boolean(data.other) || canAsk(data, "compare"));
  say(refs.layerRange, layerRange(data));
  const within = layersAtHand(data);
  refs.layer.min = String(within[0]);
  refs.layer.max = String(within.at(-1));
  refs.layer.value = String(view.layer);
  const layerNow = saidHere(page, "layerNow", `layer ${view.layer}, ${layerRange(data)}`, { layer: view.layer });
  refs.layer.setAttribute("aria-valuetext", layerNow);
  refs.layer.disabled = main.pack.stored.size < 2 && !canAsk(data, "layers");
  if (from !== "dial")
    refs.dial.value = String(Math.round(1000 * scaleToDial(scaleOf(view, main.pack), main.pack.scale)));
  for (const button of refs.tokens.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.token === view.query && view.locked));
  }
  page.thumbs.forEach(({ button }, head) => button.setAttribute("aria-pressed", String(head === view.head)));
  refs.hold.setAttribute("aria-pressed", String(view.ceiling !== "auto"));
  say(refs.hold, view.ceiling === "auto" ? "hold exposure" : "exposure held");
  const convolution = view.beside === "convolution";
  show(refs.twinFoot, convolution);
  show(refs.nines, convolution);
  show(refs.otherFoot, !convolution && view.beside !== "filter");
  show(refs.filterFoot, view.beside === "filter");
  root.classList.toggle("more", choice.more);
  refs.more.setAttribute("aria-expanded", String(choice.more));
  say(refs.more, choice.more ? "Less" : "More");
  refs.kernelSizes.classList.toggle("extra", view.k === 3); // a chosen size stays in sight
  show(refs.nine, convolution);
  show(refs.twin, view.beside !== "wall");
  refs.twin.setAttribute("aria-label", TWINS[view.beside] ?? "");
  show(refs.wall, view.beside === "wall");
  if (view.beside === "wall") show(refs.twinBadge, false);
  else if (view.beside === "compare" && !data.other)
    say(refs.otherFoot, "Choose a second image or model to compare with.");
  say(refs.convolutionTab, `${view.k}×${view.k} convolution`);
  root.dataset.beside = view.beside;
  say(refs.curveCount, String(view.k * view.k));
}

// The thumbnails and special tokens of this pack, as buttons.
export function buildHeads({ main }, page) {
  const { refs } = page;
  const { pack } = main;
  page.thumbs = Array.from({ length: pack.heads }, (_, head) => {
    const button = document.createElement("button");
    button.dataset.head = String(head);
    const number = pack.headNumbers[head];
    button.setAttribute("aria-label", `head ${number}`);
    button.title = `head ${number}`;
    const canvas = makeCanvas(pack.columns, pack.rows);
    const label = document.createElement("span"),
      name = document.createElement("b"),
      reach = document.createElement("i");
    name.textContent = String(number);
    label.append(name, reach);
    button.append(canvas, label);
    return { button, canvas, number: reach, said: "", print: null };
  });
  refs.heads.replaceChildren(...page.thumbs.map(({ button }) => button));
  const words = document.createElement("span");
  words.textContent = pack.prefixCount ? "query:" : "";
  refs.tokens.replaceChildren(
    words,
    ...pack.prefix.map((name) => {
      const button = document.createElement("button");
      button.dataset.token = name;
      button.textContent = prefixName(name);
      button.title = `Take ${prefixName(name)} as the query`;
      return button;
    }),
  );
  refs.shares.replaceChildren(
    ...pack.prefix.map((name) => {
      const cell = document.createElement("div"),
        label = document.createElement("dt"),
        value = document.createElement("dd");
      label.textContent = prefixName(name);
      cell.append(label, value);
      return cell;
    }),
  );
  page.shares = [...refs.shares.querySelectorAll("dd")];
}
