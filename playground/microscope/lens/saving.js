// The pictures on the screen as a PNG file, drawn by the same functions.

import { queryOf, viewToQuery } from "../core/view.js";
import { asks, wayOf } from "../core/ways.js";
import { composePicture, drawColourBar } from "../drawing/charts.js";
import { makeCanvas, say, show } from "../drawing/dom.js";
import { drawConvolution, drawPicture, printParts } from "../drawing/draw.js";
import { makePhoto, makePrint, printNothing } from "../drawing/light.js";
import { drawHeads, drawNearnessAt, FILTER_TITLE } from "./beside.js";
import { printComponents } from "./features.js";
import { printPatches, rampOf, refresh } from "./layout.js";
import { captionOf, saidHere } from "./readouts.js";
import { isMap, layMean, overlayNow } from "./state.js";

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

const COMES = "Its numbers are on their way: try again in a moment."; // rounded ones go into no file

export function savePicture(lens, factor, both) {
  if (lens.frame.shown.rough) return say(lens.page.refs.saveNote, COMES);
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

export const linkNow = async ({ view }, { host }) =>
  (await host.link?.({ ...view })) || `${location.href.split("#")[0]}#${viewToQuery(view)}`;

export async function copyLink(choice, data, page) {
  const { refs } = page;
  const url = await linkNow(choice, data);
  const copied = await putOnClipboard(page, url);
  say(refs.message, copied ? "Link copied." : url);
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
  lens.page.see?.present();
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
  page.see?.present();
  refresh(lens);
}

// The sheet of Share: what is on view, to send on. Here is the picture; a loop and a living page are made by See.

const PICTURE_SCALE = 2;
// What is made of each way, into the preview: a blob, or null where it failed or nobody wants it any more.
const SHARED = {
  picture: { make: sharedPicture, end: () => "png" },
  tall: { make: sharedLoop, end: ({ type }) => type.split(/[/;]/)[1] },
  wide: { make: sharedLoop, end: ({ type }) => type.split(/[/;]/)[1] },
  page: { make: sharedPage, end: () => "html" },
};

// In the words of the face that is on view.
const sentenceNow = ({ see, refs }) => (see?.on ? see.says() : refs.sentence.textContent);

export function bindShare(lens) {
  const { page } = lens;
  const { refs } = page;
  page.share = { file: null, link: "", of: "", round: 0 };
  refs.shareWays.addEventListener(
    "click",
    ({ target }) => target.dataset.share && chooseShared(lens, target.dataset.share),
  );
  refs.shareGo.addEventListener("click", () => passOn(page));
  refs.shareSave.addEventListener("click", () => {
    if (page.share.link) copyShared(page);
    else if (page.share.file) handOver(page.share.file);
  });
  refs.sharePresent.addEventListener("click", () => {
    show(refs.sendingSheet, false);
    togglePresenting(lens);
  });
}

const OWN_STAYS = "Your photograph does not travel in a link: who opens it sees another picture. Send the living page.";

// Called when the sheet has been opened.
export function beginShare(lens, way) {
  const { see, refs } = lens.page;
  const can = { picture: true, link: Boolean(lens.data.host.link) };
  for (const button of refs.shareWays.querySelectorAll("[data-share]")) {
    const { share } = button.dataset;
    show(button, can[share] ?? Boolean(see?.canShare(share)));
  }
  show(refs.sharePresent, Boolean(see?.on) && !lens.choice.presenting);
  see?.writeShared();
  chooseShared(lens, way);
}

// A link has a line before it is copied: what of the view travels in it.
async function showLink(lens) {
  const { share, refs } = lens.page;
  const { private: own } = lens.data.main.trace;
  share.link = await linkNow(lens.choice, lens.data);
  if (share.of !== "link") return;
  const field = document.createElement("input");
  Object.assign(field, { readOnly: true, value: share.link });
  field.setAttribute("aria-label", saidHere(lens.page, "shareLink", "Link"));
  refs.sharePreview.replaceChildren(field);
  refs.shareSave.disabled = false;
  say(refs.shareSave, saidHere(lens.page, "shareCopy", "Copy link"));
  const told = own ? ["shareOwnLink", OWN_STAYS] : ["shareLinkSays", "Who opens it sees this very view."];
  say(refs.shareStatus, saidHere(lens.page, ...told));
}

async function copyShared(page) {
  const copied = await putOnClipboard(page, page.share.link);
  if (copied) say(page.refs.shareStatus, saidHere(page, "shareCopied", "Link copied."));
}

async function chooseShared(lens, of) {
  const { page } = lens;
  const { share, refs } = page;
  const round = ++share.round; // what was being made before is not wanted any more
  const goesOn = () => share.round === round && page.alive && !refs.sendingSheet.hidden;
  Object.assign(share, { file: null, link: "", of });
  for (const button of refs.shareWays.querySelectorAll("[data-share]"))
    button.setAttribute("aria-pressed", String(button.dataset.share === of));
  offerShared(page);
  say(refs.shareSave, saidHere(page, "shareSave", "Save"));
  if (of === "link") return showLink(lens);
  if (lens.frame.shown.rough) return say(refs.shareStatus, saidHere(page, "shareComes", COMES));
  say(refs.shareStatus, saidHere(page, "shareMaking", "Making it …"));
  const { make, end } = SHARED[of];
  const blob = await make(lens, of, goesOn).catch(() => null);
  if (!goesOn()) return;
  if (!blob) return say(refs.shareStatus, saidHere(page, "shareFailed", "It could not be made: share the picture."));
  share.file = new File([blob], fileName(lens.choice, lens.frame, end(blob)), { type: blob.type.split(";")[0] });
  offerShared(page);
  const made = saidHere(page, "shareMade", "Made in this browser; it goes nowhere until you send it.");
  const own = lens.data.main.trace.private ? ` ${saidHere(page, "shareOwn", "Your photograph is in it.")}` : "";
  say(refs.shareStatus, made + own);
}

function offerShared({ refs, share }) {
  const { file, of } = share;
  show(
    refs.shareGo,
    of !== "link" && Boolean(navigator.canShare?.({ files: [file ?? new File([""], "a.png", { type: "image/png" })] })),
  );
  for (const button of [refs.shareGo, refs.shareSave]) button.disabled = !file;
}

// To the apps of this phone.
async function passOn(page) {
  const { file } = page.share;
  if (!file) return;
  try {
    await navigator.share({ files: [file], text: sentenceNow(page) });
  } catch (error) {
    if (error.name !== "AbortError") say(page.refs.shareStatus, "This browser could not send it: save it instead.");
  }
}

function putPreview(page, canvas, words) {
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", words);
  page.refs.sharePreview.replaceChildren(canvas);
}

async function sharedPicture(lens) {
  const { page } = lens;
  const canvas = page.see?.on ? page.see.sharedStill() : pictureCanvas(lens, PICTURE_SCALE, false);
  putPreview(page, canvas, `The picture: ${sentenceNow(page)}`);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// It plays on the sheet while it is recorded.
function sharedLoop({ page }, shape, goesOn) {
  const canvas = makeCanvas(1, 1);
  putPreview(page, canvas, `Three seconds: ${sentenceNow(page)}`);
  return page.see.sharedLoop(canvas, shape, goesOn);
}

// One file, which opens alive without a network; the preview is what it begins with.
async function sharedPage(lens) {
  await sharedPicture(lens);
  return new Blob([await lens.page.see.sharedPage()], { type: "text/html" });
}
