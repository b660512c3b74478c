// The curve from the patch that asks to the brightest one, drawn once when the pointer rests.

const CURVE_AFTER = 150; // ms without a move before the curve is drawn
const LEAST_APART = 2.5; // patches, between the two
const CURVE_BOW = 0.3; // of their distance, above both

export const CURVE = `
  <svg aria-hidden="true"><path class="halo" pathLength="1"/><path class="wire" pathLength="1"/></svg>`;

export function createCurve(frame, box) {
  const drawing = box.querySelector("svg");
  const lines = box.querySelectorAll("path");
  let drawn = "";
  let resting = 0;

  // {from, bend, to} in a picture of this size; null where they are beside each other.
  function points(w, h) {
    const { shown, picture } = frame;
    const { rows, columns } = shown.pack;
    const { mark } = shown;
    const best = picture.tag?.patch ?? -1;
    if (mark < 0 || best < 0 || best === mark) return null;
    const middle = (patch) => [
      (((patch % columns) + 0.5) / columns) * w,
      ((Math.floor(patch / columns) + 0.5) / rows) * h,
    ];
    const [from, to] = [middle(mark), middle(best)];
    const length = Math.hypot(from[0] - to[0], from[1] - to[1]);
    if (length < (LEAST_APART * w) / columns) return null;
    return { from, bend: [(from[0] + to[0]) / 2, Math.max(0, Math.min(from[1], to[1]) - CURVE_BOW * length)], to };
  }

  // A frame that is painted for something else leaves a curve as it is.
  function place(at) {
    const { pictureWidth: w, pictureHeight: h } = frame;
    const path = at ? curvePath(at) : "";
    if (path === drawn) return;
    drawn = path;
    box.classList.remove("drawn");
    clearTimeout(resting);
    if (!at) return;
    drawing.setAttribute("viewBox", `0 0 ${w} ${h}`);
    for (const line of lines) line.setAttribute("d", path);
    resting = setTimeout(() => box.classList.add("drawn"), CURVE_AFTER);
  }

  return { points, place };
}

function curvePath({ from, bend, to }) {
  const [begins, bends, ends] = [from, bend, to].map((at) => at.map(Math.round).join(" "));
  return `M${begins} Q${bends} ${ends}`;
}
