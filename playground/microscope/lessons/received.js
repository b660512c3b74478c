// What each of nine tokens receives: its row of weights times the values.
//
// data: {arrows: "20_0_…", values: [nine numbers], letters: [nine]}

import { readArrows, receivedOf } from "../core/nine.js";
import { keepDrawing } from "../drawing/stage.js";

const line = (name, cells) =>
  `<tr><th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;

function createReceived({ root, redraw }) {
  let told = null;
  return {
    take: (data) => {
      told = data;
      redraw();
    },
    paint: () => {
      const taken = Array.from(receivedOf(readArrows(told.arrows), told.values), (number) => number.toFixed(1));
      const rows = [
        line("token", told.letters),
        line("value, given", told.values),
        line(
          "received",
          taken.map((number) => `<b>${number}</b>`),
        ),
      ];
      root.innerHTML = `<table>${rows.join("")}</table>`;
    },
    read: () => Array.from(receivedOf(readArrows(told.arrows), told.values)),
  };
}

export default function (component) {
  return keepDrawing(component, createReceived);
}
