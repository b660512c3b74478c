// Bars with a name below and a number above, as elements: a mixing desk of the largest weights of a row, and the
// scores and weights of the step after it.

import { ROLES } from "../core/colours.js";

const CHANNELS = 8;
export const WEIGHTS = "#B63679"; // of magma, as weights are

// Draws the desk into its place; gives [{name, weight, loud, heard}].
export function deskOf(place, weights, loud, pack) {
  const largest = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, CHANNELS);
  const desk = largest.map((token) => ({
    name: nameOf(token, pack),
    weight: weights[token],
    loud: loud[token],
    heard: weights[token] * loud[token],
  }));
  const names = desk.map(({ name }) => name);
  const groups = [
    ["Fader: the weight", "weight", WEIGHTS, (x) => `${(100 * x).toFixed(0)} %`],
    ["How loud it is: ‖W<sub>O</sub> v‖", "loud", ROLES.value, (x) => x.toFixed(2)],
    ["Heard: their product", "heard", ROLES.query, (x) => x.toFixed(2)],
  ];
  const bars = groups.map(([title, key, colour, text]) => {
    const values = desk.map((channel) => channel[key]);
    return barsOf({ title, names, values, colour, text });
  });
  place.replaceChildren(...bars);
  return desk;
}

function nameOf(token, { prefix, prefixCount, columns }) {
  const patch = token - prefixCount;
  return patch < 0 ? prefix[token] : `${Math.floor(patch / columns)},${patch % columns}`;
}

// `most`: the value of a bar of full height; bars go down from zero where a value is negative.
export function barsOf({ title, names, values, colour, text, most = Math.max(...values, 0) }) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.innerHTML = `<b>${title}</b>`;
  const box = document.createElement("div");
  box.className = "bars";
  const least = Math.min(0, ...values.filter(Number.isFinite));
  const range = most - least || 1;
  for (const [n, value] of values.entries()) {
    const [column, number, bar, name] = ["div", "b", "i", "span"].map((tag) => document.createElement(tag));
    const drawn = Number.isFinite(value) ? value : 0;
    number.textContent = text(value);
    name.textContent = names[n];
    bar.style.background = colour;
    bar.style.height = `${(100 * Math.abs(drawn)) / range}%`;
    bar.style.bottom = `${(100 * (Math.min(0, drawn) - least)) / range}%`;
    number.style.bottom = `${(100 * (Math.max(0, drawn) - least)) / range}%`;
    column.style.setProperty("--zero", `${(100 * -least) / range}%`);
    column.append(bar, number);
    const channel = document.createElement("div");
    channel.append(column, name);
    box.append(channel);
  }
  figure.append(caption, box);
  return figure;
}
