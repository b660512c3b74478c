// Saves the pictures on the screen as a PNG file; the functions that draw the screen draw the file.

import { queryOf, viewToQuery } from "../core/view.js";
import { asks, wayOf } from "../core/ways.js";
import { composePicture, drawColourBar } from "../drawing/charts.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto, makePrint } from "../drawing/light.js";
import { refresh } from "./layout.js";
import { printMap } from "./paint.js";
import { captionOf, faceWords } from "./readouts.js";
import { whatIsDrawn } from "./rows.js";
import { isMap } from "./state.js";

const PICTURE_SCALE = 2; // times its size on the page

// The picture as a canvas, beside the picture that it is compared with.
export function pictureCanvas(lens) {
  const { data, frame, page, view, main } = lens;
  const width = Math.max(frame.pictureWidth, 320);
  const height = Math.round((width * frame.pictureHeight) / frame.pictureWidth);
  const image = main.picture.bitmap;
  const photo = makePhoto(image, width * PICTURE_SCALE, height * PICTURE_SCALE);
  const pictures = [
    {
      title: whatIsDrawn(lens),
      draw: (context, w, h, unit) => drawPicture(context, w, h, canvasOfMap(lens, photo), frame.picture, unit),
    },
  ];
  if (view.beside === "compare" && data.other) {
    pictures.push({
      title: page.refs.twinBadge.textContent,
      draw: (context, w, h) => context.drawImage(page.refs.twin, 0, 0, w, h),
    });
  }
  const drawBar = (canvas, unit, colours) => {
    if (!wayOf(view).coloured) drawColourBar(canvas, frame.ramp, frame.bar, unit, colours);
  };
  return composePicture(pictures, width, height, captionOf(lens), drawBar, PICTURE_SCALE);
}

// A canvas of the large picture's content, drawn at the file's size.
export const canvasOfMap = (lens, photo) => printMap(lens, makePrint(photo)).canvas;

export function fileName({ view, shown }, extension) {
  const layer = wayOf(view).throughLayers ? "" : `-layer${view.layer}`;
  const head = wayOf(view).ofHeads ? `-head${shown.pack.headNumbers[view.head]}` : "";
  const map = isMap(view.what) ? `-${view.what}` : "";
  const queryName = asks(view)
    ? `-${queryOf(shown.token, shown.pack).replace(",", "-")}`
    : view.label && `-label${view.label}`;
  return `attention${layer}${head}${map}${queryName}.${extension}`;
}

// Downloads the file on this machine.
export function downloadFile(file) {
  const link = make("a", { href: URL.createObjectURL(file), download: file.name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export const currentLink = async ({ view, host }) =>
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
  const { choice, root } = lens;
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
// key among the words. See adds formats.
const PICTURE_FORMAT = { make: sharedPicture, end: () => "png", use: "usePicture" };
const formatNamed = ({ see }, name) => see?.shareFormats[name] ?? PICTURE_FORMAT;

// The sentence on view.
export const sentenceNow = ({ see }) => see?.sentenceText() ?? "";

export function bindShare(lens) {
  const { page, refs } = lens;
  page.share = { file: null, link: "", of: "", round: 0 };
  refs.shareWays.addEventListener(
    "click",
    ({ target }) => target.dataset.share && chooseFormat(lens, target.dataset.share),
  );
  if (page.touch) refs.shareWays.prepend(refs.shareWays.querySelector('[data-share="loop"]')); // phones send loops
  refs.shareGo.addEventListener("click", () => openShareMenu(page));
  refs.shareSave.addEventListener("click", () => {
    if (page.share.link) copyShared(page);
    else if (page.share.file) downloadFile(page.share.file);
  });
}

// Called when the sheet has been opened. Without `format`, the sheet begins with what this device sends.
export function beginShare(lens, format) {
  const { see, refs } = lens;
  const possible = { picture: true, link: Boolean(lens.data.host.link) };
  for (const button of refs.shareWays.querySelectorAll("[data-share]")) {
    const { share } = button.dataset;
    setVisible(button, possible[share] ?? Boolean(see?.canShare(share)));
  }
  chooseFormat(lens, format ?? refs.shareWays.querySelector("[data-share]:not([hidden])").dataset.share);
}

// Shows the link, and which parts of the view it contains, before the person copies it.
async function showLink(lens) {
  const { refs } = lens;
  const { share } = lens.page;
  const { private: isPrivate } = lens.data.main.trace;
  share.link = await currentLink(lens);
  if (share.of !== "link") return;
  const field = make("input", { readOnly: true, value: share.link, "aria-label": faceWords(lens.page, "shareLink") });
  refs.sharePreview.replaceChildren(field);
  refs.shareGo.disabled = refs.shareSave.disabled = false;
  setText(refs.shareSave, faceWords(lens.page, "shareCopy"));
  setText(refs.shareStatus, faceWords(lens.page, isPrivate ? "shareOwnLink" : "shareLinkSays"));
}

async function copyShared(page) {
  const isCopied = await putOnClipboard(page, page.share.link);
  if (isCopied) setText(page.refs.shareStatus, faceWords(page, "shareCopied"));
}

async function chooseFormat(lens, format) {
  const { page, refs } = lens;
  const { share } = page;
  const round = ++share.round; // cancels the former job
  const isCurrent = () => share.round === round && page.alive && !refs.sendingSheet.hidden;
  Object.assign(share, { file: null, link: "", of: format });
  for (const button of refs.shareWays.querySelectorAll("[data-share]"))
    button.setAttribute("aria-pressed", String(button.dataset.share === format));
  offerShared(page);
  setText(refs.shareSave, faceWords(page, "shareSave"));
  if (format === "link") return showLink(lens);
  const { make, end: extension, use } = formatNamed(page, format);
  const say = (key) => setText(refs.shareStatus, `${faceWords(page, use)} ${faceWords(page, key)}`);
  say("shareMaking");
  const blob = await make(lens, isCurrent).catch(() => null);
  if (!isCurrent()) return;
  if (!blob) return setText(refs.shareStatus, faceWords(page, "shareFailed"));
  share.file = new File([blob], fileName(lens, extension(blob)), { type: blob.type.split(";")[0] });
  offerShared(page);
  const ownWords = lens.data.main.trace.private ? ` ${faceWords(page, "shareOwn")}` : "";
  say("shareMade");
  refs.shareStatus.append(ownWords);
}

function offerShared({ refs, share }) {
  const { file, of: kind } = share;
  const files = [file ?? new File([""], "a.png", { type: "image/png" })];
  setVisible(refs.shareGo, kind === "link" ? "share" in navigator : Boolean(navigator.canShare?.({ files })));
  for (const button of [refs.shareGo, refs.shareSave]) button.disabled = !file;
}

// Opens the share menu of the phone.
async function openShareMenu(page) {
  const { file, link } = page.share;
  if (!file && !link) return;
  try {
    await navigator.share(link ? { url: link } : { files: [file], text: sentenceNow(page) });
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
