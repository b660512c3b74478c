// The wall of heads lies over all of the lens: each layer and head is a map of the row that one patch has there.
// Pointing at a place of a map asks from that place, in all maps at once; a press takes the head.

import { answerCell } from "../core/answers.js";
import { entropyBits } from "../core/core.js";
import { sayRow } from "../core/says.js";
import { FIRST_WAY } from "../core/ways.js";
import { cutTo, make, setText } from "../drawing/dom.js";
import { wallCellAt } from "../drawing/draw.js";
import { faceLanguage, faceWords } from "./readouts.js";
import { rowRecord } from "./told.js";

export function bindWall({ choice, frame, page }) {
  const { below, two, wall } = page.refs;
  const leave = (change = {}) => cutTo([below], () => page.choose({ ...change, beside: "convolution" }));
  const [title, line] = [make("h2"), make("p")];
  const close = make("button", { className: "close", onclick: () => leave() }, "×");
  two.before(make("div", "wall-head", title, line, close));
  page.wall = { title, line, close, pointed: null }; // pointed: {layer, head, patch} under the pointer

  const cellOf = (event) => {
    const { pack } = frame.shown;
    const { left, top, width, height } = wall.getBoundingClientRect();
    const [x, y] = [((event.clientX - left) / width) * wall.width, ((event.clientY - top) / height) * wall.height];
    return frame.wallCells && wallCellAt(frame.wallCells, x, y, pack.rows, pack.columns);
  };
  wall.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    const cell = cellOf(event);
    page.wall.pointed = cell;
    if (!choice.view.locked) choice.hover = cell ? frame.shown.pack.prefixCount + cell.patch : -1;
    page.schedule();
  });
  wall.addEventListener("pointerleave", () => {
    page.wall.pointed = null;
    page.schedule();
  });
  wall.addEventListener("click", (event) => {
    const cell = cellOf(event);
    leave(cell ? { layer: cell.layer, head: cell.head } : {});
  });
}

/** @param {Lens} lens */
export function paintWallHead({ choice, data, frame, page, page: { wall } }) {
  const { token, scale } = frame.shown;
  const { pack, answers } = frame.shown;
  const count = pack.layers * (pack.header.heads_in_all ?? pack.heads);
  const words = (key, values) => faceWords(page, key, values);
  setText(wall.title, words("wallAsks", { count }));
  wall.close.title = words("wallClose");
  wall.close.setAttribute("aria-label", wall.close.title);
  const { layer, head: index } = wall.pointed ?? choice.view;
  const values = answerCell(answers, layer, index, token, scale, FIRST_WAY, "row");
  const head = pack.headNumbers[index];
  const whatToDo = words("wallDo");
  if (!values || token < pack.prefixCount) return setText(wall.line, whatToDo);
  const row = rowRecord(values, 0, entropyBits(values, 0, pack.tokens), data, frame.shown);
  const { before, place, after } = sayRow(faceLanguage(page), row);
  const headWords = words("wallHead", { layer, head });
  setText(wall.line, `${headWords}: ${before}${place}${after} ${whatToDo}`);
}
