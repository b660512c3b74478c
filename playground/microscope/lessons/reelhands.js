// What a person can take hold of in the time-lapse: the clock, the layers, the heads and the picture. `reel` is the
// state of reel.js.

import { patchAfterKey, patchAt, patchFrom, patchText } from "../core/grid.js";
import { placeOf } from "./reelcharts.js";

export function bindClock(reel) {
  const { refs } = reel;
  refs.play.addEventListener("click", () => {
    if (reel.target !== null) return reel.goTo(Math.round(reel.now));
    if (reel.now >= reel.moments.length - 1) reel.now = 0;
    reel.target = reel.moments.length - 1;
    reel.schedule();
  });
  refs.slider.addEventListener("input", () => {
    Object.assign(reel, { now: Math.min(reel.moments.length - 1, Number(refs.slider.value)), target: null });
    reel.schedule();
  });
  refs.slider.addEventListener("change", () => reel.goTo(Math.round(reel.now)));
  refs.slider.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!way) return;
    event.preventDefault();
    reel.goTo(Math.round(reel.now) + way);
  });
}

export function bindPicture(reel) {
  const { picture } = reel.refs;
  const under = (event) => {
    const box = picture.getBoundingClientRect(),
      { rows, columns } = reel.shape;
    const x = (event.clientX - box.left) / box.width,
      y = (event.clientY - box.top) / box.height;
    return patchText(patchAt(x, y, rows, columns), columns);
  };
  const hover = (patch) => {
    if (reel.hover === patch) return;
    reel.hover = patch;
    reel.schedule();
  };
  picture.addEventListener("pointermove", (event) => reel.shape && hover(under(event)));
  picture.addEventListener("pointerleave", () => hover(null));
  picture.addEventListener("click", (event) => reel.shape && reel.choose({ patch: under(event) }));
  picture.addEventListener("keydown", (event) => {
    if (!reel.shape) return;
    const { rows, columns } = reel.shape;
    const next = patchAfterKey(event.key, patchFrom(reel.view.patch, rows, columns), rows, columns);
    if (next < 0) return;
    event.preventDefault();
    reel.choose({ patch: patchText(next, columns) });
  });
}

// The steps under the slider, as many as have room.
export function writeTicks(reel) {
  const { refs, moments, planned } = reel;
  const every = Math.ceil((planned * 52) / Math.max(200, reel.width - 220));
  const marks = moments.map((step, i) => {
    const mark = document.createElement("button");
    Object.assign(mark, {
      textContent: (moments.length - 1 - i) % every === 0 ? step.toLocaleString("en") : "",
      tabIndex: -1,
    });
    mark.style.left = `${(100 * i) / Math.max(1, planned - 1)}%`;
    mark.addEventListener("click", () => reel.goTo(i));
    return mark;
  });
  refs.ticks.replaceChildren(...marks, ...beginMarks(reel));
}

// Where something begins in the run: see beginLines in reelcharts.js.
function beginMarks({ begins, moments, planned }) {
  return begins
    .filter(([step]) => step > 0 && step <= moments[moments.length - 1])
    .map(([step, words]) => {
      const mark = document.createElement("i");
      mark.title = `from step ${step.toLocaleString("en")} on: ${words}`;
      mark.style.left = `${(100 * placeOf(step, moments, planned)) / Math.max(1, planned - 1)}%`;
      return mark;
    });
}

// Made once per shape, because a button that is made again loses the keyboard's focus.
export function buildHeadButtons(reel) {
  const { refs, shape, view } = reel;
  const key = `${shape.layers} ${shape.heads} ${shape.rows} ${shape.columns}`;
  if (reel.buttonsKey !== key) {
    reel.buttonsKey = key;
    const words = document.createElement("span");
    words.textContent = "layer";
    refs.layers.replaceChildren(
      words,
      ...Array.from({ length: shape.layers }, (_, layer) => choiceButton(String(layer), () => reel.choose({ layer }))),
    );
    reel.thumbs = Array.from({ length: shape.heads }, (_, head) => {
      const button = choiceButton("", () => reel.choose({ head }));
      const canvas = document.createElement("canvas"),
        label = document.createElement("span");
      button.setAttribute("aria-label", `head ${head}`);
      label.textContent = `head ${head}`;
      button.append(canvas, label);
      return { button, canvas, print: null };
    });
    refs.heads.replaceChildren(...reel.thumbs.map(({ button }) => button));
    reel.rows = new Float32Array(shape.heads * shape.tokens);
    reel.ahead = new Float32Array(shape.tokens);
  }
  [...refs.layers.querySelectorAll("button")].forEach((button, layer) =>
    button.setAttribute("aria-pressed", String(layer === view.layer)),
  );
  reel.thumbs.forEach(({ button }, head) => button.setAttribute("aria-pressed", String(head === view.head)));
}

function choiceButton(text, act) {
  const button = document.createElement("button");
  button.textContent = text;
  button.addEventListener("click", act);
  return button;
}
