// Saves the pictures on the screen as a PNG file; the functions that draw the screen draw the file.

import { queryOf, viewToQuery } from "../core/view.js";
import { asks, wayOf } from "../core/ways.js";
import { composePicture, drawColourBar } from "../drawing/charts.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint, printHeat, printNothing } from "../drawing/light.js";
import { printComponents } from "./features.js";
import { refresh } from "./layout.js";
import { captionOf, wordsInFace } from "./readouts.js";
import { isMap, overlayNow } from "./state.js";

const PICTURE_SCALE = 2; // times its size on the page

// The picture as a canvas, beside the picture that it is compared with.
export function pictureCanvas({ choice, data, frame, page }) {
  const { view } = choice,
    { main } = data;
  const width = Math.max(frame.pictureWidth, 320);
  const height = Math.round((width * frame.pictureHeight) / frame.pictureWidth);
  const image = main.picture.bitmap;
  const photo = makePhoto(image, width * PICTURE_SCALE, height * PICTURE_SCALE);
  const { ask1, chip, ask2 } = page.refs;
  const question = `${ask1.textContent} ${chip.textContent} ${ask2.textContent}`.trim();
  const pictures = [
    {
      title: question.replace(" ?", "?"),
      draw: (context, w, h, unit) =>
        drawPicture(context, w, h, printMap(choice, data, frame, photo), frame.picture, unit),
    },
  ];
  if (view.beside === "compare" && data.other) {
    pictures.push({
      title: page.refs.twinBadge.textContent,
      draw: (context, w, h) => context.drawImage(page.refs.twin, 0, 0, w, h),
    });
  }
  const drawBar = (canvas, unit, colours) => {
    if (!wayOf(view).coloured) drawColourBar(canvas, frame.ramp, frame.bar, unit, colours, frame.against);
  };
  return composePicture(pictures, width, height, captionOf(choice, data, frame), drawBar, PICTURE_SCALE);
}

// A canvas of the large picture's content, drawn at the file's size.
export function printMap(choice, data, frame, photo) {
  const { view } = choice,
    { shown } = frame;
  const { pack, answers } = shown;
  const print = makePrint(photo);
  const overlay = overlayNow(choice, data, frame);
  const values = overlay ? overlay.values : answers.values;
  const prefixOffset = overlay && overlay.values.length === pack.patches ? 0 : pack.prefixCount;
  const start = overlay ? 0 : view.head * pack.tokens;
  if (isMap(view.what) && !overlay) return printNothing(print);
  if (overlay?.pixels) {
    printComponents(print, overlay.pixels, pack);
    return print.canvas;
  }
  printHeat(print, values, start + prefixOffset, pack.rows, pack.columns, shown.mainDomain);
  return print.canvas;
}

const NUMBERS_MISSING = "Its numbers are on their way: try again in a moment."; // rounded weights are not saved

export function fileName({ view }, { shown }, extension) {
  const layer = wayOf(view).throughLayers ? "" : `-layer${view.layer}`;
  const headOrMap = isMap(view.what) ? `-${view.what}` : `-head${shown.pack.headNumbers[view.head]}`;
  const queryName = asks(view)
    ? `-${queryOf(shown.token, shown.pack).replace(",", "-")}`
    : view.label && `-label${view.label}`;
  return `attention${layer}${headOrMap}${queryName}.${extension}`;
}

// Downloads the file on this machine.
export function downloadFile(file) {
  const link = make("a", { href: URL.createObjectURL(file), download: file.name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export const currentLink = async ({ view }, { host }) =>
  (await host.link?.({ ...view })) || `${location.href.split("#")[0]}#${viewToQuery(view)}`;

// Copies text; returns whether that worked.
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
  const area = make("textarea", { value: text });
  page.root.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

export async function togglePresenting(lens) {
  const { choice } = lens;
  const { root } = lens.page;
  if (choice.presenting) {
    if (document.fullscreenElement) await document.exitFullscreen();
    leavePresenting(lens);
    return;
  }
  choice.presenting = true;
  root.classList.add("presenting");
  lens.page.see?.present();
  await root.requestFullscreen?.().catch(() => {}); // full screen may be forbidden; then the lens fills its frame
  refresh(lens);
  root.focus(); // takes keys as the picture does, and draws no ring around it
}

export function leavePresenting(lens) {
  const { choice, page } = lens;
  if (!choice.presenting || page.root.getRootNode().fullscreenElement || document.fullscreenElement) return;
  choice.presenting = false;
  page.root.classList.remove("presenting");
  page.see?.present();
  refresh(lens);
}

// The sheet "Share" offers the present view as a picture. In the face See, the sheet also offers a loop and an
// interactive page.

// A format: make(lens, isCurrent) shows a preview and returns a promise of the file as a blob, or of null if that
// failed or is no longer wanted; end(blob) returns the extension of the file's name; use: what the format is for, its
// key among See's words and in English. See adds formats.
const PICTURE_FORMAT = {
  make: sharedPicture,
  end: () => "png",
  use: ["usePicture", "A still, for a message or a slide."],
};
const formatNamed = ({ see }, name) => see?.shareFormats[name] ?? PICTURE_FORMAT;

// The sentence on view.
export const sentenceNow = ({ see, refs }) => (see ? see.sentenceText() : refs.sentence.textContent);

export function bindShare(lens) {
  const { page } = lens;
  const { refs } = page;
  page.share = { file: null, link: "", of: "", round: 0 };
  refs.shareWays.addEventListener(
    "click",
    ({ target }) => target.dataset.share && chooseFormat(lens, target.dataset.share),
  );
  refs.shareGo.addEventListener("click", () => openShareMenu(page));
  refs.shareSave.addEventListener("click", () => {
    if (page.share.link) copyShared(page);
    else if (page.share.file) downloadFile(page.share.file);
  });
}

const NO_PHOTO = "Your photograph does not travel in a link: who opens it sees another picture. Send the living page.";

// Called when the sheet has been opened. Without `format`, the sheet begins with what this device sends.
export function beginShare(lens, format) {
  const { see, refs } = lens.page;
  const possible = { picture: true, link: Boolean(lens.data.host.link) };
  for (const button of refs.shareWays.querySelectorAll("[data-share]")) {
    const { share } = button.dataset;
    setVisible(button, possible[share] ?? Boolean(see?.canShare(share)));
  }
  see?.writeShared();
  chooseFormat(lens, format ?? refs.shareWays.querySelector("[data-share]:not([hidden])").dataset.share);
}

// Shows the link, and which parts of the view it contains, before the person copies it.
async function showLink(lens) {
  const { share, refs } = lens.page;
  const { private: isPrivate } = lens.data.main.trace;
  share.link = await currentLink(lens.choice, lens.data);
  if (share.of !== "link") return;
  const field = make("input", {
    readOnly: true,
    value: share.link,
    "aria-label": wordsInFace(lens.page, "shareLink", "Link"),
  });
  refs.sharePreview.replaceChildren(field);
  refs.shareSave.disabled = false;
  setText(refs.shareSave, wordsInFace(lens.page, "shareCopy", "Copy link"));
  const keyAndText = isPrivate ? ["shareOwnLink", NO_PHOTO] : ["shareLinkSays", "Who opens it sees this very view."];
  setText(refs.shareStatus, wordsInFace(lens.page, ...keyAndText));
}

async function copyShared(page) {
  const isCopied = await putOnClipboard(page, page.share.link);
  if (isCopied) setText(page.refs.shareStatus, wordsInFace(page, "shareCopied", "Link copied."));
}

async function chooseFormat(lens, format) {
  const { page } = lens;
  const { share, refs } = page;
  const round = ++share.round; // cancels the former job
  const isCurrent = () => share.round === round && page.alive && !refs.sendingSheet.hidden;
  Object.assign(share, { file: null, link: "", of: format });
  for (const button of refs.shareWays.querySelectorAll("[data-share]"))
    button.setAttribute("aria-pressed", String(button.dataset.share === format));
  offerShared(page);
  setText(refs.shareSave, wordsInFace(page, "shareSave", "Save"));
  if (format === "link") return showLink(lens);
  if (lens.frame.shown.rough) return setText(refs.shareStatus, wordsInFace(page, "shareComes", NUMBERS_MISSING));
  const { make, end: extension, use } = formatNamed(page, format);
  const say = (...words) => setText(refs.shareStatus, `${wordsInFace(page, ...use)} ${wordsInFace(page, ...words)}`);
  say("shareMaking", "Making it …");
  const blob = await make(lens, isCurrent).catch(() => null);
  if (!isCurrent()) return;
  if (!blob)
    return setText(refs.shareStatus, wordsInFace(page, "shareFailed", "It could not be made: share the picture."));
  share.file = new File([blob], fileName(lens.choice, lens.frame, extension(blob)), { type: blob.type.split(";")[0] });
  offerShared(page);
  const ownWords = lens.data.main.trace.private ? ` ${wordsInFace(page, "shareOwn", "Your photograph is in it.")}` : "";
  say("shareMade", "Made in this browser; it goes nowhere until you send it.");
  refs.shareStatus.append(ownWords);
}

function offerShared({ refs, share }) {
  const { file, of: kind } = share;
  setVisible(
    refs.shareGo,
    kind !== "link" &&
      Boolean(navigator.canShare?.({ files: [file ?? new File([""], "a.png", { type: "image/png" })] })),
  );
  for (const button of [refs.shareGo, refs.shareSave]) button.disabled = !file;
}

// Opens the share menu of the phone.
async function openShareMenu(page) {
  const { file } = page.share;
  if (!file) return;
  try {
    await navigator.share({ files: [file], text: sentenceNow(page) });
  } catch (error) {
    if (error.name !== "AbortError") setText(page.refs.shareStatus, "This browser could not send it: save it instead.");
  }
}

export function putPreview(page, canvas, words) {
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", words);
  page.refs.sharePreview.replaceChildren(canvas);
}

export async function sharedPicture(lens) {
  const { page } = lens;
  const canvas = page.see?.on ? page.see.sharedStill() : pictureCanvas(lens);
  putPreview(page, canvas, `The picture: ${sentenceNow(page)}`);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
