// From hands to choices: pointer, keys, buttons. Everything ends in lens.choose({…}) or lens.point(token).

import { dialToScale, queryOf, sameToken, tokenOf } from "../core/view.js";
import { composePicture, drawColourBar } from "../drawing/charts.js";
import {
  drawConvolution,
  drawPicture,
  drawWall,
  makeBackdrops,
  makeCanvas,
  makeHeat,
  wallCellAt,
  wallCells,
} from "../drawing/draw.js";
import { say, show } from "./markup.js";
import { captionOf, layerRange, prefixName, tokenName } from "./readouts.js";
import { depthOf, layersAtHand } from "./shown.js";

// ---------------------------------------------------------------------------------------------------------- pointing

// Which token lies under the last pointer event. Read once per frame: a mouse may report ten times between two frames.
export function tokenUnder(lens) {
  const { pointer, main, other, view, refs } = lens;
  const box = pointer.target.getBoundingClientRect();
  let x = (pointer.x - box.left) / box.width,
    y = (pointer.y - box.top) / box.height;
  let { pack } = main;
  if (pointer.target === refs.twin && view.beside === "compare" && other && lens.otherBox) {
    const inner = lens.otherBox;
    x = (x * refs.twin.width - inner.x) / inner.width;
    y = (y * refs.twin.height - inner.y) / inner.height;
    pack = other.pack;
  }
  const row = Math.min(pack.rows - 1, Math.max(0, Math.floor(y * pack.rows)));
  const column = Math.min(pack.columns - 1, Math.max(0, Math.floor(x * pack.columns)));
  const token = pack.prefixCount + row * pack.columns + column;
  return pack === main.pack ? token : sameToken(token, pack, main.pack);
}

export function bindPointer(lens) {
  for (const canvas of [lens.refs.picture, lens.refs.twin]) {
    const follow = (event) => {
      Object.assign(lens.pointer, { target: canvas, x: event.clientX, y: event.clientY, fresh: true });
      lens.everHovered = true;
      lens.schedule(true);
    };
    canvas.addEventListener("pointermove", follow);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse") canvas.setPointerCapture?.(event.pointerId);
      follow(event);
    });
    canvas.addEventListener("pointerleave", () => lens.leave());
    canvas.addEventListener("pointercancel", () => lens.leave());
    canvas.addEventListener("click", (event) => {
      if (!lens.main) return;
      Object.assign(lens.pointer, { target: canvas, x: event.clientX, y: event.clientY, fresh: false });
      const token = tokenUnder(lens),
        query = queryOf(token, lens.main.pack);
      if (lens.hover >= 0) lens.hover = token; // a click in the same frame as the move before it: no frame has seen that
      lens.choose({ query, locked: !(lens.view.locked && lens.view.query === query) });
    });
  }
  const { wall } = lens.refs;
  wall.addEventListener("click", (event) => {
    if (!lens.wallCells) return;
    const box = wall.getBoundingClientRect();
    const found = wallCellAt(
      lens.wallCells,
      ((event.clientX - box.left) / box.width) * wall.width,
      ((event.clientY - box.top) / box.height) * wall.height,
    );
    if (found) lens.choose(found);
  });
}

// -------------------------------------------------------------------------------------------------------------- keys

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export function bindKeys(lens) {
  lens.root.addEventListener("keydown", (event) => {
    if (!lens.main || event.ctrlKey || event.metaKey || event.altKey) return;
    const { view, main, refs } = lens;
    const { pack } = main;
    const inSlider = event.target.tagName === "INPUT";
    if (event.key in ARROWS) {
      if (inSlider || event.target !== refs.picture) return;
      const token = lens.hover >= 0 ? lens.hover : tokenOf(view.query, pack);
      const patch = Math.max(0, token - pack.prefixCount);
      const [down, right] = ARROWS[event.key];
      const row = Math.min(pack.rows - 1, Math.max(0, Math.floor(patch / pack.columns) + down));
      const column = Math.min(pack.columns - 1, Math.max(0, (patch % pack.columns) + right));
      lens.hover = -1;
      lens.choose({ query: `${row},${column}`, locked: true });
    } else if (event.key === "Escape") {
      if (closeSheets(lens)) return;
      // A browser leaves its own full screen by itself; the stand-in for it has to be told.
      if (lens.presenting && !document.fullscreenElement) lens.present();
      else lens.choose({ locked: false });
    } else if (event.key === "[" || event.key === "]")
      lens.choose({ layer: view.layer + (event.key === "]" ? 1 : -1) });
    else if (event.key === "," || event.key === ".") lens.choose({ head: view.head + (event.key === "." ? 1 : -1) });
    else if (/^\d$/.test(event.key) && pack.headNumbers.includes(Number(event.key)))
      lens.choose({ head: pack.headNumbers.indexOf(Number(event.key)) });
    else if (event.key === "s") flip(lens);
    else if (event.key === "w") lens.choose({ beside: view.beside === "wall" ? "convolution" : "wall" });
    else return;
    event.preventDefault();
  });
}

const flip = (lens) => lens.choose({ scale: lens.view.scale === "on" ? "off" : "on" });

// ----------------------------------------------------------------------------------------------------------- buttons

const meaning = (text) =>
  text === "true" ? true : text === "false" ? false : text !== "" && !Number.isNaN(Number(text)) ? Number(text) : text;

export function bindButtons(lens) {
  const { root, refs } = lens;
  root.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button || !lens.main) return;
    const group = button.closest("[data-choice]");
    if (group) lens.choose({ [group.dataset.choice]: meaning(button.dataset.value) });
    if (button.dataset.head) lens.choose({ head: Number(button.dataset.head) });
    if (button.dataset.token) {
      const again = lens.view.locked && lens.view.query === button.dataset.token;
      lens.choose({ query: button.dataset.token, locked: !again });
    }
    if (button.dataset.step) step(lens, button.dataset.step);
    if (button.dataset.save) savePicture(lens, Number(button.dataset.save), Boolean(button.dataset.both));
  });
  refs.switch.addEventListener("click", () => flip(lens));
  refs.layer.addEventListener("input", () => lens.choose({ layer: Number(refs.layer.value) }));
  refs.opacity.addEventListener("input", () => lens.choose({ opacity: Number(refs.opacity.value) / 100 }));
  refs.dial.addEventListener("input", () => {
    const t = Number(refs.dial.value) / 1000;
    // A little magnet at the trained scale and at the end, so that a hand can find them again.
    const scale = Math.abs(t - 0.5) < 0.012 ? "on" : t > 0.995 ? "off" : dialToScale(t, lens.main.pack.scale);
    lens.choose({ scale }, "dial");
  });
  refs.drawing.addEventListener("click", () => toggleSheet(lens, "drawing"));
  refs.saving.addEventListener("click", () => toggleSheet(lens, "saving"));
  refs.link.addEventListener("click", () => lens.copyLink());
  refs.present.addEventListener("click", () => lens.present());
  root.addEventListener("pointerdown", (event) => {
    if (!event.target.closest?.(".sheet, [aria-haspopup]")) closeSheets(lens);
  });
}

function step(lens, way) {
  if (way === "follow") lens.choose({ depth: "follow" });
  else lens.choose({ depth: Math.max(1, depthOf(lens.view) + Number(way)) });
}

function toggleSheet(lens, name) {
  const { refs } = lens;
  const opening = refs[`${name}Sheet`].hidden;
  closeSheets(lens);
  show(refs[`${name}Sheet`], opening);
  refs[name].setAttribute("aria-expanded", String(opening));
}

function closeSheets(lens) {
  let closed = false;
  for (const name of ["drawing", "saving"]) {
    if (!lens.refs[`${name}Sheet`].hidden) closed = true;
    show(lens.refs[`${name}Sheet`], false);
    lens.refs[name].setAttribute("aria-expanded", "false");
  }
  return closed;
}

// The controls show what the view says, whoever changed it.
export function showChoices(lens, from = "") {
  const { root, refs, view, main } = lens;
  for (const group of root.querySelectorAll("[data-choice]")) {
    for (const button of group.querySelectorAll("[data-value]")) {
      button.setAttribute("aria-pressed", String(meaning(button.dataset.value) === view[group.dataset.choice]));
    }
  }
  show(refs.link, lens.host.link !== null);
  for (const element of root.querySelectorAll("[data-ask]"))
    show(element, lens.asks(element.dataset.ask) || (element.dataset.ask === "whole" && Boolean(lens.whole)));
  show(refs.valueTab, Boolean(main.pack.header.sections.value_norms));
  show(refs.wallTab, main.pack.stored.size > 1 || lens.asks("layers")); // one layer is in the strip already
  show(refs.compareTab, Boolean(lens.other) || lens.asks("compare"));
  say(refs.layerRange, layerRange(lens));
  const within = layersAtHand(lens);
  refs.layer.min = String(within[0]);
  refs.layer.max = String(within.at(-1));
  refs.layer.value = String(view.layer);
  refs.layer.disabled = main.pack.stored.size < 2 && !lens.asks("layers");
  refs.opacity.value = String(Math.round(100 * view.opacity));
  if (from !== "dial") refs.dial.value = String(Math.round(1000 * lens.dial()));
  for (const button of refs.tokens.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.token === view.query && view.locked));
  }
  lens.thumbs.forEach(({ button }, head) => button.setAttribute("aria-pressed", String(head === view.head)));
  const convolution = view.beside === "convolution";
  show(refs.twinFoot, convolution);
  show(refs.nines, convolution);
  show(refs.otherFoot, !convolution);
  show(refs.twin, view.beside !== "wall");
  show(refs.wall, view.beside === "wall");
  if (view.beside === "wall") {
    show(refs.twinBadge, false);
    say(refs.otherFoot, "Layers downwards, heads to the right, all for the same patch. Click one to enlarge it.");
  } else if (view.beside === "compare" && !lens.other)
    say(refs.otherFoot, "Choose a second image or model to compare with.");
  say(refs.convolutionTab, `${view.k}×${view.k} convolution`);
  say(refs.curveCount, String(view.k * view.k));
}

// The thumbnails and special tokens of this pack, as buttons.
export function buildHeads(lens) {
  const { refs, main } = lens;
  const { pack } = main;
  lens.thumbs = Array.from({ length: pack.heads }, (_, head) => {
    const button = document.createElement("button");
    button.dataset.head = String(head);
    const number = pack.headNumbers[head];
    button.setAttribute("aria-label", `head ${number}`);
    button.title = `head ${number}; below: how many tokens it listens to`;
    const canvas = makeCanvas(pack.columns, pack.rows);
    const label = document.createElement("span"),
      name = document.createElement("b"),
      reach = document.createElement("i");
    name.textContent = String(number);
    label.append(name, reach);
    button.append(canvas, label);
    return { button, canvas, number: reach, heat: makeHeat(pack.rows, pack.columns, canvas) };
  });
  refs.heads.replaceChildren(...lens.thumbs.map(({ button }) => button));
  const words = document.createElement("span");
  words.textContent = pack.prefixCount ? "ask as" : "";
  refs.tokens.replaceChildren(
    words,
    ...pack.prefix.map((name) => {
      const button = document.createElement("button");
      button.dataset.token = name;
      button.textContent = prefixName(name);
      button.title = `Ask as ${prefixName(name)}`;
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
  lens.shares = [...refs.shares.querySelectorAll("dd")];
}

// ------------------------------------------------------------------------------------------------------ taking it away

// The picture as shown, by the same drawing, at 1, 2 or 4 times its size on the page.
export function pictureCanvas(lens, factor, both) {
  const { view, main, shown } = lens;
  const width = Math.max(lens.pictureWidth, 320);
  const height = Math.round((width * lens.pictureHeight) / lens.pictureWidth);
  const image = lens.images[main.image]?.bitmap ?? null;
  const backdrops = makeBackdrops(image, width * factor, height * factor);
  const question = `${lens.refs.ask1.textContent} ${tokenName(shown.token, shown.pack)} ${lens.refs.ask2.textContent}`;
  const pictures = [
    {
      title: question.replace(" ?", "?"),
      draw: (context, w, h, unit) => drawPicture(context, w, h, backdrops, lens.heat, lens.picture, unit),
    },
  ];
  if (both && view.beside === "convolution") {
    pictures.push({
      title: `A ${view.k}×${view.k} convolution reads`,
      draw: (context, w, h, unit) => drawConvolution(context, w, h, backdrops, lens.twin, unit),
    });
  } else if (both && view.beside === "wall") {
    const { pack } = shown;
    const picture = {
      rows: pack.rows,
      columns: pack.columns,
      smooth: view.smooth,
      layer: view.layer,
      head: view.head,
      headNumbers: pack.headNumbers,
      missing: (layer) => !pack.stored.has(layer),
    };
    const colours = { soft: "#333", line: "#bbb", accent: "#0072B2" };
    pictures.push({
      title: "Every layer and head",
      draw: (context, w, h, unit) =>
        drawWall(
          context,
          w,
          h,
          wallCells(w, h, layersAtHand(lens), pack.heads, pack.rows, pack.columns, unit),
          lens.atlas.canvas,
          picture,
          colours,
          unit,
        ),
    });
  } else if (both && lens.other) {
    pictures.push({
      title: lens.refs.twinBadge.textContent,
      draw: (context, w, h) => context.drawImage(lens.refs.twin, 0, 0, w, h),
    });
  }
  const bar = (context, w, h, unit, colours) => drawColourBar(context, w, h, lens.ramp, lens.bar, unit, colours);
  return composePicture(pictures, width, height, captionOf(lens), bar, factor);
}

function savePicture(lens, factor, both) {
  const { view } = lens;
  pictureCanvas(lens, factor, both).toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    const query = queryOf(lens.shown.token, lens.shown.pack).replace(",", "-");
    link.download = `attention-layer${view.layer}-head${lens.shown.pack.headNumbers[view.head]}-${query}${factor > 1 ? `@${factor}x` : ""}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }, "image/png");
  closeSheets(lens);
}
