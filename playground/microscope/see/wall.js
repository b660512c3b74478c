// The wall of heads lies over all of See: each layer and head is a bare map of the row that one patch has there.
// Pointing at a place of a map asks from that place, in all maps at once; a press takes the head.

import { answerCell } from "../core/answers.js";
import { FIRST_WAY } from "../core/ways.js";
import { setText } from "../drawing/dom.js";
import { wallCellAt } from "../drawing/draw.js";

const WALL_HEAD = `<h2></h2><p></p><button type="button" class="close">×</button>`;

// tell(values): what See says of a row; close(): closes the wall
export function createHeadsWall({ choice, frame, page }, { words, tell, close }) {
  const { refs } = page;
  const { wall } = refs;
  const head = document.createElement("div");
  head.className = "see-wall";
  head.innerHTML = WALL_HEAD;
  refs.two.before(head);
  const [title, line, closeButton] = head.children;
  let pointed = null; // {layer, head, patch} under the pointer
  closeButton.addEventListener("click", close);

  const cellOf = (event) => {
    const { pack } = frame.shown;
    const { left, top, width, height } = wall.getBoundingClientRect();
    const [x, y] = [((event.clientX - left) / width) * wall.width, ((event.clientY - top) / height) * wall.height];
    return frame.wallCells && wallCellAt(frame.wallCells, x, y, pack.rows, pack.columns);
  };
  const isOpen = () => page.see?.drawer === "heads";
  wall.addEventListener("pointermove", (event) => {
    if (!isOpen() || event.pointerType === "touch") return;
    pointed = cellOf(event);
    if (!choice.view.locked) choice.hover = pointed ? frame.shown.pack.prefixCount + pointed.patch : -1;
    page.schedule();
  });
  wall.addEventListener("pointerleave", () => {
    pointed = null;
    if (isOpen()) page.schedule();
  });
  wall.addEventListener("click", () => isOpen() && close());

  function paint() {
    const { token, scale } = frame.shown;
    const { pack, answers } = frame.shown.drawn;
    setText(title, words("wallAsks", { count: pack.layers * (pack.header.heads_in_all ?? pack.heads) }));
    closeButton.title = words("tourEnd");
    closeButton.setAttribute("aria-label", words("tourEnd"));
    const { layer, head: number } = pointed ?? choice.view;
    const values = answerCell(answers, layer, number, token, scale, FIRST_WAY, "row");
    const place = { layer, head: pack.headNumbers[number] };
    if (!values || token < pack.prefixCount) return setText(line, words("wallDo"));
    const { before, place: where, after } = tell(values);
    setText(line, `${words("wallHead", place)}: ${before}${where}${after} ${words("wallDo")}`);
  }

  return { paint };
}
