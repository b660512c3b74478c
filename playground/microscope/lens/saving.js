// Saves the pictures on the screen as a PNG file; the functions that draw the screen draw the file.

import { queryOf, viewToQuery } from "../core/view.js";
import { asks, wayOf } from "../core/ways.js";
import { composePicture, drawColourBar, ticksOfBar } from "../drawing/charts.js";
import { make, setText, setVisible } from "../drawing/dom.js";
import { drawConvolution, drawPicture, printParts } from "../drawing/draw.js";
import { makePhoto, makePrint, printNothing } from "../drawing/light.js";
import { drawHeads, drawNearnessAt, FILTER_TITLE } from "./beside.js";
import { printComponents } from "./features.js";
import { printPatches, rampOf, refresh } from "./layout.js";
import { captionOf, tokenName, wordsInFace } from "./readouts.js";
import { isMap, overlayNow, putMeanRow } from "./state.js";

// The picture as a canvas, at 1, 2 or 4 times its size on the page.
export function pictureCanvas({ choice, data, frame, page }, factor, withOther) {
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
        drawPicture(context, w, h, printMap(choice, data, frame, photo), frame.picture, unit),
    },
  ];
  if (withOther && view.beside === "convolution") {
    pictures.push({
      title: `A ${view.k}×${view.k} convolution reads`,
      draw: (context, w, h, unit) => drawConvolution(context, w, h, photo, frame.twin, unit),
    });
  } else if (withOther && view.beside === "wall") {
    const colours = { soft: "#333", line: "#bbb", accent: "#0072B2" };
    pictures.push({
      title: "Every layer and head",
      draw: (context, w, h, unit) => drawHeads(choice, data, frame, context, w, h, colours, unit),
    });
  } else if (withOther && view.beside === "filter") {
    pictures.push({
      title: FILTER_TITLE,
      draw: (context, w, h, unit) => drawNearnessAt(choice, data, frame, context, w, h, photo, unit),
    });
  } else if (withOther && data.other) {
    pictures.push({
      title: page.refs.twinBadge.textContent,
      draw: (context, w, h) => context.drawImage(page.refs.twin, 0, 0, w, h),
    });
  }
  const drawBar = (context, w, h, unit, colours) => {
    if (!wayOf(view).coloured)
      drawColourBar(context, w, h, rampOf(choice, frame), frame.bar, unit, colours, frame.ramps.against);
  };
  return composePicture(pictures, width, height, captionOf(choice, data, frame), drawBar, factor);
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
  if (overlay?.parts) return printParts(print, overlay.parts, pack);
  if (overlay?.pixels) {
    printComponents(print, overlay.pixels, pack);
    return print.canvas;
  }
  const putHeadBack = putMeanRow(choice, frame);
  printPatches(choice, frame, print, values, start + prefixOffset, pack, shown.mainDomain);
  putHeadBack();
  return print.canvas;
}

const NUMBERS_MISSING = "Its numbers are on their way: try again in a moment."; // rounded weights are not saved

export function savePicture(lens, factor, withOther) {
  if (lens.frame.shown.rough) return setText(lens.page.refs.saveNote, NUMBERS_MISSING);
  pictureCanvas(lens, factor, withOther).toBlob((blob) => {
    downloadFile(
      new File([blob], fileName(lens.choice, lens.frame, "png", factor > 1 ? `@${factor}x` : ""), { type: blob.type }),
    );
  }, "image/png");
}

export function fileName({ view }, { shown }, extension, suffix = "") {
  const layer = wayOf(view).throughLayers ? "" : `-layer${view.layer}`;
  const headOrMap = isMap(view.what) ? `-${view.what}` : `-head${shown.pack.headNumbers[view.head]}`;
  const queryName = asks(view)
    ? `-${queryOf(shown.token, shown.pack).replace(",", "-")}`
    : view.label && `-label${view.label}`;
  return `attention${layer}${headOrMap}${queryName}${suffix}.${extension}`;
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

const PICTURE_SCALE = 2;
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
  const canvas = page.see?.on ? page.see.sharedStill() : pictureCanvas(lens, PICTURE_SCALE, false);
  putPreview(page, canvas, `The picture: ${sentenceNow(page)}`);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Below: the present view as an SVG with real text, and as numbers. Both contain the values on the screen.

const FIGURE_WIDTH = 504; // points: the width of a page's text
const PIXELS_PER_POINT = 3; //  pixels of a picture for each point
const PANEL_GAP = 8;
const PANEL_TOP = 24;
const SMALL_SIZE = 6.8;
const FIGURE_INK = { text: "#14141a", soft: "#5d5f69", query: "#0072b2", key: "#d55e00" };
const FIGURE_FONT = "'Source Sans 3', 'Source Sans Pro', system-ui, sans-serif";

const escapedXml = (text) =>
  String(text).replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);

export const exportFunctions = (lens) => ({
  figure: (metadata) => figureSvg(lens, metadata),
  numbers: () => lens.data.main && numbersOnView(lens),
});

// `metadata`: {key: value} about the figure's origin, stored in the file.
function figureSvg({ choice, data, frame, page }, metadata) {
  const { view } = choice;
  const { pack, token, mark } = frame.shown;
  const aspect = frame.pictureHeight / frame.pictureWidth;
  const panelWidth = (FIGURE_WIDTH - PANEL_GAP) / 2;
  const h = panelWidth * aspect;
  const photo = makePhoto(
    data.main.picture.bitmap,
    Math.round(panelWidth * PIXELS_PER_POINT),
    Math.round(h * PIXELS_PER_POINT),
  );
  const map = printMap(choice, data, frame, photo);
  const [cw, ch] = [panelWidth / pack.columns, h / pack.rows];
  const { ask1, chip, ask2 } = page.refs;
  const question = [ask1, chip, ask2].map(({ textContent }) => textContent.trim()).join(" ");
  const place = mark >= 0 && [Math.floor(mark / pack.columns), mark % pack.columns];
  const outlineAt = (x) =>
    place
      ? ["#ffffff", view.direction === "column" ? FIGURE_INK.key : FIGURE_INK.query].map(
          (colour, i) =>
            `<rect x="${x + place[1] * cw}" y="${PANEL_TOP + place[0] * ch}" width="${cw}" height="${ch}" ` +
            `fill="none" stroke="${colour}" stroke-width="${i ? 1.2 : 2.3}"/>`,
        )
      : [];
  const panel = (id, x, canvas, kind, heading, subtitle) => [
    textAt(x, 10, heading, { size: 8.5, bold: true }),
    textAt(x, 19.7, subtitle, { colour: FIGURE_INK.soft }),
    `<image id="${id}" x="${x}" y="${PANEL_TOP}" width="${panelWidth}" height="${h}" preserveAspectRatio="none" ` +
      `href="${canvas.toDataURL(kind, 0.9)}"/>`,
    ...outlineAt(x),
  ];
  const caption = captionOf(choice, data, frame);
  const queryName = asks(view) ? tokenName(token, pack) : "";
  const elements = [
    ...panel("picture", 0, photo.clear, "image/jpeg", data.main.picture.title, queryName),
    ...panel("map", panelWidth + PANEL_GAP, map, "image/png", question.replace(" ?", "?"), layerAndHead(view, pack)),
    ...(wayOf(view).coloured ? [] : colourBar(choice, frame, PANEL_TOP + h + 8, panelWidth)),
  ];
  const lines = wrapWords(caption, 62);
  lines.forEach((words, i) => elements.push(textAt(panelWidth + PANEL_GAP, PANEL_TOP + h + 13 + 9 * i, words)));
  const height = PANEL_TOP + h + Math.max(32, 16 + 9 * lines.length);
  const facts = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`);
  return (
    `<?xml version="1.0" encoding="utf-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${FIGURE_WIDTH}pt" ` +
    `height="${height}pt" viewBox="0 0 ${FIGURE_WIDTH} ${height}">\n<title>${escapedXml(caption)}</title>\n` +
    `<desc>${escapedXml(facts.join("; "))}</desc>\n<rect width="100%" height="100%" fill="#ffffff"/>\n` +
    `${elements.join("\n")}\n</svg>\n`
  );
}

const layerAndHead = (view, pack) =>
  wayOf(view).throughLayers ? "" : `layer ${view.layer}, head ${pack.headNumbers[view.head]}`;

const textAt = (x, y, words, { size = SMALL_SIZE, bold = false, colour = FIGURE_INK.text, anchor = "start" } = {}) =>
  `<text x="${x}" y="${y}" font-family="${FIGURE_FONT}" font-size="${size}" fill="${colour}" text-anchor="${anchor}"` +
  `${bold ? ' font-weight="700"' : ""}>${escapedXml(words)}</text>`;

const BAR_STOPS = 32; // steps of the colour bar's gradient

function colourBar(choice, frame, y, figureWidth) {
  const ramp = rampOf(choice, frame);
  const gradientStops = Array.from({ length: BAR_STOPS + 1 }, (_, i) => {
    const colour = ramp[Math.round((i / BAR_STOPS) * (ramp.length - 1))];
    return `<stop offset="${i / BAR_STOPS}" stop-color="${colour}"/>`;
  });
  const anchors = { 0: "start", 1: "end" };
  const width = figureWidth * 0.6;
  return [
    `<defs><linearGradient id="colours">${gradientStops.join("")}</linearGradient></defs>`,
    `<rect x="0" y="${y}" width="${width}" height="4" fill="url(#colours)"/>`,
    ...ticksOfBar(frame.bar).map(({ t, words }) =>
      textAt(t * width, y + 11, words, { colour: FIGURE_INK.soft, anchor: anchors[t] ?? "middle", size: 6.1 }),
    ),
  ];
}

// Breaks text into lines of at most this many letters.
function wrapWords(words, maximum) {
  const lines = [""];
  for (const word of words.split(" ")) {
    const longerLine = [lines.at(-1), word].filter(Boolean).join(" ");
    if (longerLine.length > maximum && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longerLine;
  }
  return lines;
}

// The numbers of the view for export, {values: one for each token or patch, tokens: the names of these, map: a
// description of the values, …}. null if the view has no number for each patch.
function numbersOnView({ choice, data, frame }) {
  const { view } = choice;
  const { pack, answers, token, scale } = frame.shown;
  const overlay = overlayNow(choice, data, frame);
  const way = wayOf(view);
  if (way.coloured || overlay?.parts || (!way.ofHeads && !overlay)) return null;
  const start = view.head * pack.tokens;
  const values = overlay ? overlay.values : answers.values.subarray(start, start + pack.tokens);
  const names = Array.from({ length: pack.tokens }, (_, i) => queryOf(i, pack));
  return {
    tokens: values.length === pack.patches ? names.slice(pack.prefixCount) : names,
    grid: [pack.rows, pack.columns],
    input: pack.header.size,
    patch: pack.header.patch,
    predictions: pack.header.predictions ?? [],
    dim: pack.dim,
    values: Float32Array.from(values),
    map: {
      layer: view.layer,
      ...(way.ofHeads && { head: pack.headNumbers[view.head] }),
      ...(asks(view) && { patch: queryOf(token, pack) }),
      what: view.what,
      ...(way.ofHeads && { direction: view.direction, scale }),
    },
  };
}
