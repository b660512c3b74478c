// To send on: three patches that show much, as a film of three seconds that is made in this browser, or the picture
// alone. Where no film can be made there is the picture.
import { ROLES } from "../core/colours.js";
import { patchText } from "../core/grid.js";
import { makeCanvas, outlineCell, say, show } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto } from "../drawing/light.js";
import { threePatches } from "./ghost.js";
import { tellingPatches } from "./moment.js";
import { paintFrame } from "./paint.js";
import { titleOf } from "./readouts.js";
import { fileName, handOver, pictureCanvas, printed } from "./saving.js";

// A few patches ask one after the other, in three seconds: the frames of a small film to send on, with the sentence of
// each beneath it. It ends where it begins, so that it can go round.

const LOOP_TURN = 1000; // ms that belong to one patch
const LOOP_GLIDE = 340; // ms of these, at their end, on the way to the next
const LOOP_WIDE = 720; // pixels across, of a picture that is not higher than this
const LOOP_HIGH = 800;
const LOOP_NARROWEST = 480; // or the sentence has no room
const LOOP_EDGE = 20; // pixels around the words
const LOOP_TYPE = 25,
  LOOP_SMALL = 17,
  LOOP_LEADING = 1.36;
const LOOP_PAPER = "#131318",
  LOOP_INK = "#f1f1f4",
  LOOP_SOFT = "#a9a9b2";

export const loopMilliseconds = (stills) => LOOP_TURN * stills.length;

// The picture in it, in pixels. Encoders of films want even numbers.
export function loopPictureSize(aspect) {
  const even = (n) => 2 * Math.round(n / 2);
  const width = even(Math.max(LOOP_NARROWEST, Math.min(LOOP_WIDE, LOOP_HIGH * aspect)));
  return { width, height: even(width / aspect), unit: width / 430 };
}

// stills: [{picture: a canvas without its marker, cell: {x, y, width, height} of who asks, or null, colour: of its
// outline, runs: [{text, bold, box: a colour or ""}]}]; made: the line below the sentence. Gives the canvas's size.
export function layOutLoop(context, stills, made, font) {
  const { width, height } = stills[0].picture;
  const room = width - 2 * LOOP_EDGE;
  for (const still of stills) still.lines = brokenIntoLines(context, still.runs, room, font);
  const lines = Math.max(...stills.map((still) => still.lines.length));
  const foot = 2 * LOOP_EDGE + lines * LOOP_TYPE * LOOP_LEADING + LOOP_SMALL * LOOP_LEADING;
  return { width, height: 2 * Math.ceil((height + foot) / 2), top: height, lines, made, font };
}

// How it looks after so many milliseconds. Begins with the first patch at rest.
export function drawLoop(context, stills, size, ms) {
  const turn = Math.floor(ms / LOOP_TURN) % stills.length;
  const [still, next] = [stills[turn], stills[(turn + 1) % stills.length]];
  const along = easedLoop(Math.max(0, ((ms % LOOP_TURN) - LOOP_TURN + LOOP_GLIDE) / LOOP_GLIDE));
  context.drawImage(still.picture, 0, 0);
  context.globalAlpha = along;
  if (along > 0) context.drawImage(next.picture, 0, 0);
  context.globalAlpha = 1;
  drawLoopMarker(context, still, next, along, size);
  context.fillStyle = LOOP_PAPER;
  context.fillRect(0, size.top, size.width, size.height - size.top);
  drawLoopWords(context, along < 0.5 ? still : next, size);
}

const easedLoop = (t) => t * t * (3 - 2 * t);

function drawLoopMarker(context, { cell, colour }, next, along, { width }) {
  if (!cell || !next.cell) return;
  const between = (name) => cell[name] + along * (next.cell[name] - cell[name]);
  outlineCell(context, between("x"), between("y"), cell.width, cell.height, width / 430, colour);
}

function drawLoopWords(context, { lines }, { top, width, height, made, font }) {
  context.textAlign = "left";
  context.textBaseline = "middle";
  let y = top + LOOP_EDGE + (LOOP_TYPE * LOOP_LEADING) / 2;
  for (const line of lines) {
    for (const { text, bold, box, x, across } of line) {
      if (box) {
        context.fillStyle = box;
        context.fillRect(LOOP_EDGE + x - 5, y - 0.62 * LOOP_TYPE, across + 10, 1.2 * LOOP_TYPE);
      }
      context.font = loopFont(bold, font);
      context.fillStyle = box ? "#140a00" : LOOP_INK;
      context.fillText(text, LOOP_EDGE + x, y);
    }
    y += LOOP_TYPE * LOOP_LEADING;
  }
  context.font = `400 ${LOOP_SMALL}px ${font}`;
  context.fillStyle = LOOP_SOFT;
  context.fillText(made, LOOP_EDGE, height - LOOP_EDGE - LOOP_SMALL / 2, width - 2 * LOOP_EDGE);
}

const loopFont = (bold, font) => `${bold ? 650 : 400} ${LOOP_TYPE}px ${font}`;

// Words in lines: [[{text, bold, box, x, across}]].
function brokenIntoLines(context, runs, room, font) {
  const lines = [[]];
  let x = 0;
  for (const { text, bold, box } of runs) {
    context.font = loopFont(bold, font);
    const padding = box ? 6 : 0;
    for (const word of box ? [text] : (text.match(/\s*\S+|\s+$/g) ?? [])) {
      const across = context.measureText(word).width;
      const goesOn = x === 0 || x + across + 2 * padding <= room;
      if (!goesOn) {
        lines.push([]);
        x = 0;
      }
      const shown = x === 0 ? word.trimStart() : word;
      lines.at(-1).push({ text: shown, bold, box, x: x + padding, across: context.measureText(shown).width });
      x += context.measureText(shown).width + 2 * padding;
    }
  }
  return lines;
}

const FILM_RATE = 25; // frames a second
// The first of them that this browser can make.
const FILM_KINDS = ["video/mp4;codecs=avc1.42E01F", "video/mp4", "video/webm;codecs=vp9", "video/webm"];
const PICTURE_SCALE = 2;

export function bindShare(lens) {
  const { page } = lens;
  const { refs } = page;
  page.share = { stills: [], size: null, file: null, of: "", round: 0 };
  refs.shareWays.addEventListener(
    "click",
    ({ target }) => target.dataset.share && chooseShared(lens, target.dataset.share),
  );
  refs.shareGo.addEventListener("click", () => passOn(page));
  refs.shareSave.addEventListener("click", () => page.share.file && handOver(page.share.file));
}

// Called when the sheet has been opened.
export function beginShare(lens) {
  const { share, refs } = lens.page;
  share.stills = filmKind() ? takeStills(lens) : [];
  show(refs.shareLoop, share.stills.length > 1);
  show(refs.sharePage, Boolean(lens.page.see?.canSharePage()));
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  chooseShared(lens, share.stills.length > 1 && !still ? "loop" : "picture");
}

const filmKind = () =>
  globalThis.MediaRecorder && HTMLCanvasElement.prototype.captureStream
    ? FILM_KINDS.find((kind) => MediaRecorder.isTypeSupported(kind))
    : undefined;

async function chooseShared(lens, of) {
  const { page } = lens;
  const { share, refs } = page;
  const round = ++share.round; // what was being made before is not wanted any more
  const goesOn = () => share.round === round && page.alive && !refs.sendingSheet.hidden;
  Object.assign(share, { file: null, of });
  for (const button of refs.shareWays.children)
    button.setAttribute("aria-pressed", String(button.dataset.share === of));
  offerShared(page);
  say(refs.shareStatus, of === "loop" ? "Making it: three seconds …" : "");
  const { make, end } = SHARED[of];
  const blob = await make(lens, goesOn);
  if (!goesOn() || !blob) return;
  share.file = new File([blob], fileName(lens.choice, lens.frame, end(blob)), { type: blob.type.split(";")[0] });
  offerShared(page);
  const own = lens.data.main.trace.private ? " Your photograph is in it." : "";
  say(refs.shareStatus, `Made in this browser; it goes nowhere until you send it.${own}`);
}

const SHARED = {
  loop: { make: recordFilm, end: ({ type }) => type.split(/[/;]/)[1] },
  picture: { make: sharedPicture, end: () => "png" },
  page: { make: sharedPage, end: () => "html" },
};

function offerShared({ refs, share }) {
  const { file } = share;
  show(
    refs.shareGo,
    Boolean(navigator.canShare?.({ files: [file ?? new File([""], "a.png", { type: "image/png" })] })),
  );
  for (const button of [refs.shareGo, refs.shareSave]) button.disabled = !file;
}

// To the apps of this phone.
async function passOn(page) {
  const { file } = page.share;
  if (!file) return;
  try {
    await navigator.share({ files: [file], text: page.refs.sentence.textContent });
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
  const canvas = pictureCanvas(lens, PICTURE_SCALE, false);
  putPreview(page, canvas, `The picture: ${page.refs.sentence.textContent}`);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// One file, which opens alive without a network.
async function sharedPage(lens) {
  const { page } = lens;
  const html = await page.see.sharedPage().catch(() => null);
  if (!html) say(page.refs.shareStatus, "The page could not be made: share the picture.");
  await sharedPicture(lens); // what it begins with
  return html && new Blob([html], { type: "text/html" });
}

// ------------------------------------------------------------------------------------------------------- the film

// The patches that show most, or whom the patch on view listens to; a patch that is locked comes last.
function patchesToShare(choice, data, { shown }) {
  const { view } = choice;
  const { pack, answers, mark } = shown;
  const from = view.head * pack.tokens + pack.prefixCount;
  const nobody = mark < 0 || !answers.ready[view.head];
  const three =
    tellingPatches(choice, data) ?? (nobody ? [] : threePatches(answers.weights, from, pack.rows, pack.columns, mark));
  if (!view.locked || mark < 0 || three.includes(mark)) return three;
  return [...three.slice(-2), mark];
}

// Each patch is asked as a hand would ask it, and nobody sees it: no frame of the screen comes between.
function takeStills(lens) {
  const { choice, data, frame, page } = lens;
  const { view, hover, aim } = choice;
  const aspect = frame.pictureWidth / frame.pictureHeight;
  const { width, height, unit } = loopPictureSize(aspect);
  const photo = makePhoto(data.main.picture.bitmap, width, height);
  const stills = [];
  try {
    for (const patch of patchesToShare(choice, data, frame)) {
      const query = patchText(patch, data.main.pack.columns);
      Object.assign(choice, { hover: -1, aim: -1, view: { ...view, query, locked: false, curtain: 0 } });
      paintFrame(lens);
      if (page.refs.waiting.hidden) stills.push(stillNow(lens, photo, unit));
    }
  } finally {
    Object.assign(choice, { view, hover, aim });
    page.schedule();
  }
  paintFrame(lens);
  const said = stills.map(({ runs }) => runs.map(({ text }) => text).join(""));
  return stills.filter((_, i) => said.indexOf(said[i]) === i); // of a map that is the same for all there is one
}

function stillNow({ choice, data, frame, page: { refs } }, photo, unit) {
  const { picture } = frame;
  const { width, height } = photo;
  const canvas = makeCanvas(width, height);
  drawPicture(
    canvas.getContext("2d"),
    width,
    height,
    printed(choice, data, frame, photo),
    { ...picture, mark: -1, behind: null },
    unit,
  );
  const cell = { width: width / picture.columns, height: height / picture.rows };
  const at = picture.mark;
  const place = { x: (at % picture.columns) * cell.width, y: Math.floor(at / picture.columns) * cell.height };
  const runs = ["before", "share", "between", "place", "after"].map((name) => ({
    text: refs[name].textContent,
    bold: name === "share" || name === "place",
    box: name === "place" && refs.place.classList.contains("here") ? picture.tag.colour : "",
  }));
  return { picture: canvas, cell: at < 0 ? null : { ...cell, ...place }, colour: markerColour(picture), runs };
}

const markerColour = ({ asked }) => (asked ? ROLES.key : ROLES.query);

// Plays on the sheet, and is recorded the first time.
function recordFilm({ choice, data, frame, page }, goesOn) {
  const { stills } = page.share;
  const canvas = makeCanvas(1, 1);
  const context = canvas.getContext("2d");
  const { view } = choice,
    { shown, colours } = frame;
  const made = `${titleOf(data.main)} · layer ${view.layer}, head ${shown.pack.headNumbers[view.head]}`;
  const size = layOutLoop(context, stills, `${made} · Attention Playground`, colours.font);
  Object.assign(canvas, { width: size.width, height: size.height });
  putPreview(page, canvas, `A film of ${stills.length} patches. ${page.refs.sentence.textContent}`);
  drawLoop(context, stills, size, 0);
  return new Promise((done) => {
    const recorder = new MediaRecorder(canvas.captureStream(FILM_RATE), {
      mimeType: filmKind(),
      videoBitsPerSecond: 4e6,
    });
    const pieces = [];
    recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
    recorder.addEventListener("stop", () => done(new Blob(pieces, { type: recorder.mimeType })));
    recorder.addEventListener("error", () => done(null));
    recorder.start();
    const whole = loopMilliseconds(stills);
    const begun = performance.now();
    const step = () => {
      const ms = performance.now() - begun;
      drawLoop(context, stills, size, ms % whole);
      if (ms >= whole && recorder.state === "recording") recorder.stop();
      if (goesOn()) requestAnimationFrame(step);
      else if (recorder.state === "recording") recorder.stop();
    };
    requestAnimationFrame(step);
  });
}
