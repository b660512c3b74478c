// The pictures on the screen as a PNG file, drawn by the same functions.
import { queryOf, viewToQuery } from "../core/view.js";
import { asks, wayOf } from "../core/ways.js";
import { composePicture, drawColourBar } from "../drawing/charts.js";
import { say } from "../drawing/dom.js";
import { drawConvolution, drawPicture, printParts } from "../drawing/draw.js";
import { makePhoto, makePrint, printNothing } from "../drawing/light.js";
import { drawHeads, drawNearnessAt, FILTER_TITLE } from "./beside.js";
import { printComponents } from "./features.js";
import { printPatches, rampOf, refresh } from "./layout.js";
import { captionOf } from "./readouts.js";
import { isMap, layMean, overlayNow } from "./shown.js";

// At 1, 2 or 4 times its size on the page.
export function pictureCanvas({ choice, data, frame, page }, factor, both) {
  const { view } = choice,
    { main } = data;
  const width = Math.max(frame.pictureWidth, 320);
  const height = Math.round((width * frame.pictureHeight) / frame.pictureWidth);
  const image = main.picture.bitmap;
  const photo = makePhoto(image, width * factor, height * factor);
  const { ask1, chip, ask2 } = page.refs;
  const question = `${ask1.textContent} ${chip.textContent} ${ask2.textContent}`.trim();
  const pictures = [
    {
      title: question.replace(" ?", "?"),
      draw: (context, w, h, unit) =>
        drawPicture(context, w, h, printed(choice, data, frame, photo), frame.picture, unit),
    },
  ];
  if (both && view.beside === "convolution") {
    pictures.push({
      title: `A ${view.k}×${view.k} convolution reads`,
      draw: (context, w, h, unit) => drawConvolution(context, w, h, photo, frame.twin, unit),
    });
  } else if (both && view.beside === "wall") {
    const colours = { soft: "#333", line: "#bbb", accent: "#0072B2" };
    pictures.push({
      title: "Every layer and head",
      draw: (context, w, h, unit) => drawHeads(choice, data, frame, context, w, h, colours, unit),
    });
  } else if (both && view.beside === "filter") {
    pictures.push({
      title: FILTER_TITLE,
      draw: (context, w, h, unit) => drawNearnessAt(choice, data, frame, context, w, h, photo, unit),
    });
  } else if (both && data.other) {
    pictures.push({
      title: page.refs.twinBadge.textContent,
      draw: (context, w, h) => context.drawImage(page.refs.twin, 0, 0, w, h),
    });
  }
  const bar = (context, w, h, unit, colours) => {
    if (!wayOf(view).coloured)
      drawColourBar(context, w, h, rampOf(choice, frame), frame.bar, unit, colours, frame.ramps.against);
  };
  return composePicture(pictures, width, height, captionOf(choice, data, frame), bar, factor);
}

// What the large picture shows, at the size of the file.
export function printed(choice, data, frame, photo) {
  const { view } = choice,
    { shown } = frame;
  const { pack, answers } = shown;
  const print = makePrint(photo);
  const overlay = overlayNow(choice, data, frame);
  const values = overlay ? overlay.values : answers.drawn;
  const from = overlay && overlay.values.length === pack.patches ? 0 : pack.prefixCount;
  const at = overlay ? 0 : view.head * pack.tokens;
  if (isMap(view.what) && !overlay) return printNothing(print);
  if (overlay?.parts) return printParts(print, overlay.parts, pack);
  if (overlay?.pixels) {
    printComponents(print, overlay.pixels, pack);
    return print.canvas;
  }
  const putHeadBack = layMean(choice, frame);
  printPatches(choice, frame, print, values, at + from, pack, shown.mainDomain);
  putHeadBack();
  return print.canvas;
}

export function savePicture(lens, factor, both) {
  pictureCanvas(lens, factor, both).toBlob((blob) => {
    handOver(
      new File([blob], fileName(lens.choice, lens.frame, "png", factor > 1 ? `@${factor}x` : ""), { type: blob.type }),
    );
  }, "image/png");
}

export function fileName({ view }, { shown }, end, more = "") {
  const layer = wayOf(view).throughLayers ? "" : `-layer${view.layer}`;
  const head = isMap(view.what) ? `-${view.what}` : `-head${shown.pack.headNumbers[view.head]}`;
  const about = asks(view)
    ? `-${queryOf(shown.token, shown.pack).replace(",", "-")}`
    : view.label && `-label${view.label}`;
  return `attention${layer}${head}${about}${more}.${end}`;
}

// As a download.
export function handOver(file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Showing it to others: a link to what is on the screen, and the whole screen.

export async function copyLink({ view }, data, page) {
  const { host } = data,
    { refs } = page;
  const own = () => `${location.href.split("#")[0]}#${viewToQuery(view)}`;
  const url = (await host.link?.({ ...view })) || own();
  const copied = await putOnClipboard(page, url);
  const about = data.main.trace.private ? " Your own image does not travel in it." : "";
  say(refs.message, copied ? `Link copied.${about}` : url);
  setTimeout(() => say(refs.message, ""), copied ? 4000 : 20000);
}

// Gives whether it could be done.
export async function putOnClipboard(page, text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(page, text);
  }
}

// Pages without HTTPS have no clipboard interface.
function copyBySelection(page, text) {
  const area = document.createElement("textarea");
  area.value = text;
  page.root.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export async function togglePresenting(lens) {
  const { choice } = lens;
  const { root, refs } = lens.page;
  if (choice.presenting) {
    if (document.fullscreenElement) await document.exitFullscreen();
    leavePresenting(lens);
    return;
  }
  choice.presenting = true;
  root.classList.add("presenting");
  say(refs.present, "Leave");
  await root.requestFullscreen?.().catch(() => {}); // a frame may forbid it; then the lens fills that frame
  refresh(lens);
  refs.picture.focus();
}

export function leavePresenting(lens) {
  const { choice, page } = lens;
  if (!choice.presenting || page.root.getRootNode().fullscreenElement || document.fullscreenElement) return;
  choice.presenting = false;
  page.root.classList.remove("presenting");
  say(page.refs.present, "Present");
  refresh(lens);
}
