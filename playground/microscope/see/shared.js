// Makes the files that See shares: the picture with its sentence, a loop, an interactive page.

import { toBytes, toContainer } from "../core/container.js";
import { layerOf } from "../core/core.js";
import { makeCanvas } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto } from "../drawing/light.js";
import { canvasOfMap, putPreview, sentenceNow, sharedPicture } from "../lens/saving.js";
import { drawLoop, loopShape, makeLoop, OUTLINE_UNIT } from "./loop.js";
import { createLayerFilm } from "./play.js";

const WIDE_PICTURE = 620; // px: numbers and lines are sized for a picture of this width
const AT_REST_MS = 4000; // of a loop

// see: {words, language, isPlain, sentence: () => {before, place, after}, inWords: () => the sentence for people who do
// not see the picture, source: () => the line below the sentence, curve(w, h), withLayers, shared, tryAt}, see see.js.
export function createShared(lens, see) {
  const { data, frame } = lens;

  const isOfAPatch = () => see.isPlain() && frame.shown.mark >= 0;

  const aspectNow = () => frame.pictureWidth / frame.pictureHeight;

  // The address of the page, as people type it.
  const addressWords = () => see.tryAt().replace(/^https?:\/\/|\/$/g, "");

  function momentIn(shape, isMoving) {
    const { picture } = frame;
    const [width, height] = shape.picture;
    const photo = makePhoto(data.main.picture.bitmap, width, height);
    const litCanvas = makeCanvas(width, height);
    const print = canvasOfMap(lens, photo);
    const { mark } = picture;
    const unit = Math.max(width, height) / WIDE_PICTURE;
    const shown = { ...picture, mark: -1, asking: mark, behind: null }; // the loop frames the asking patch
    drawPicture(litCanvas.getContext("2d"), width, height, print, shown, unit);
    const [cellWidth, cellHeight] = [width / picture.columns, height / picture.rows];
    const corner = { x: (mark % picture.columns) * cellWidth, y: Math.floor(mark / picture.columns) * cellHeight };
    const { before, place, after } = see.sentence();
    return {
      photo: photo.clear,
      film: isMoving ? createLayerFilm(lens, photo, OUTLINE_UNIT) : null,
      lit: litCanvas,
      cell: mark < 0 ? null : { ...corner, width: cellWidth, height: cellHeight },
      curve: see.curve(width, height),
      sentence: [{ text: before }, ...(place ? [{ text: place, marked: true }] : []), { text: after }],
      layerSays: (layer) => see.words("playing", { layer }),
      source: see.source(),
      maker: ["Attention Playground", addressWords()].filter(Boolean).join(" · "),
    };
  }

  const canMake = { page: () => Boolean(see.shared) && "CompressionStream" in globalThis, loop: () => true };

  // Beside an upright picture, words would stand in a thin column.
  const shapeNow = (isUpright) => loopShape(isUpright || aspectNow() < 1 ? "tall" : "wide", aspectNow());

  // The loop plays on the sheet while it is recorded. A phone's loop is upright.
  async function loopFormat({ page }, isCurrent) {
    const canvas = makeCanvas(1, 1);
    putPreview(page, canvas, `The loop: ${sentenceNow(page)}`);
    await new Promise((resolve) => see.withLayers(resolve));
    if (!isCurrent()) return null;
    const shape = shapeNow(page.touch);
    return makeLoop(canvas, shape, momentIn(shape, true), frame.colours.font, isCurrent);
  }

  // One HTML file that works without a network. The preview shows the first picture of the page.
  async function pageFormat() {
    await sharedPicture(lens);
    return new Blob([await lens.page.see.sharedPage()], { type: "text/html" });
  }

  return {
    canShare: (way) => isOfAPatch() && Boolean(canMake[way]?.()),
    sharedStill() {
      const shape = shapeNow(false);
      const canvas = makeCanvas(shape.width, shape.height);
      drawLoop(canvas.getContext("2d"), shape, momentIn(shape, false), frame.colours.font, AT_REST_MS);
      return canvas;
    },
    shareFormats: {
      loop: { make: loopFormat, end: kindOfFilm, use: "useLoop" },
      page: { make: pageFormat, end: () => "html", use: "usePage" },
    },
    async sharedPage() {
      const title = `${data.main.picture.title} · Attention Playground`;
      const words = { title, tryYours: see.words("tryYours"), still: see.inWords() };
      return makeSharedPage(lens, await see.shared(), { tryAt: see.tryAt(), words, language: see.language() });
    },
  };
}

const kindOfFilm = ({ type }) => type.split(/[/;]/)[1];

// Below: writes a moment as one HTML file that works without a network: the queries and keys of this head in eight
// bits, the photograph, and the lens. The reader's browser makes the file. Names from outside are set as text, and the
// file's content security policy forbids all requests.

const MOST_PHOTO_BYTES = 60e3;
const PHOTO_SIDES = [1100, 900, 700, 500, 320]; // px of the photograph, tried in this order
const QUALITIES = [0.82, 0.7, 0.55];
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; " +
  "base-uri 'none'; form-action 'none'";

// script: the code of shell/shared.js with the lens's styles; tryAt: an address at which others reach this site, or "".
// words: {title, tryYours, still: the sentence}; language: the language of See.
export async function makeSharedPage({ frame, view, main }, script, { tryAt, words, language }) {
  const pack = headPack(main.pack, view.layer, view.head);
  const photo = await smallPhoto(main.picture.bitmap, main.pack);
  const start = {
    model: main.trace.title,
    title: main.picture.title,
    parts: main.picture.parts ?? [],
    language,
    tryAt,
    credit: main.picture.credit ?? "",
    tryYours: words.tryYours,
    view: { ...view, head: 0, query: view.query, locked: false, beside: "convolution", pass: "layer", what: "weight" },
    mark: frame.shown.mark,
  };
  const [packed, code] = await Promise.all([
    zipped(pack),
    zipped(new TextEncoder().encode(`${script}\nstartShared(styles);`)),
  ]);
  return pageOf({ title: words.title, still: words.still, photo, start, packed, code });
}

const safeText = (text) =>
  text.replace(
    /[&<>"']/g,
    (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[letter],
  );
const safeJson = (value) => JSON.stringify(value).replace(/</g, "\\u003c");

// The script is in the page in compressed form; a few lines unzip and run it.
const LOADER = `
const unzippedPart = async (id) => {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
const script = document.createElement("script");
script.type = "module";
script.textContent = await (await unzippedPart("code")).text();
document.head.append(script);
`;

export function pageOf({ title, still, photo, start, packed, code }) {
  return `<!doctype html>
<html lang="${safeText(start.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${safeText(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${safeText(title)}</title>
<link rel="icon" href="data:,">
</head>
<body>
<main><attention-lens id="lens" numbers="pack" picture="picture"></attention-lens></main>
<img id="picture" alt="${safeText(still)}" src="${photo}" hidden>
<noscript><p>${safeText(still)}</p></noscript>
<script type="application/json" id="start">${safeJson(start)}</script>
<script type="text/plain" id="pack">${packed}</script>
<script type="text/plain" id="code">${code}</script>
<script type="module">${LOADER}</script>
</body>
</html>
`;
}

// A copy of the pack with this head alone. The page prints `heads_in_all`, the model's number of heads.
export function headPack(pack, layer, head) {
  const { q, k, norms } = layerOf(pack, layer);
  const size = pack.tokens * pack.dim;
  const partOf = (values, count) => values.subarray(head * count, (head + 1) * count);
  const { sections: _sections, some_heads: _some, ...header } = pack.header;
  const arrays = {};
  for (const [name, values] of Object.entries({ q, k })) {
    const { codes, low, step } = toBytes(partOf(values, size), pack.dim);
    arrays[name] = [codes, [1, 1, pack.tokens, pack.dim]];
    arrays[`${name}_low`] = [low, [1, 1, pack.dim]];
    arrays[`${name}_step`] = [step, [1, 1, pack.dim]];
  }
  if (norms) arrays.value_norms = [Float32Array.from(partOf(norms, pack.tokens)), [1, 1, pack.tokens]];
  const singleHead = { held: [layer], heads: 1, head_numbers: [pack.headNumbers[head]], heads_in_all: pack.heads };
  return toContainer({ ...header, ...singleHead }, arrays);
}

// The photograph as a data URL of at most 60 kB, in the model's crop, so that the patches' borders fit.
async function smallPhoto(bitmap, { rows, columns, header }) {
  const aspect = header.size ? header.size[1] / header.size[0] : columns / rows;
  for (const side of PHOTO_SIDES) {
    const [width, height] = aspect > 1 ? [side, side / aspect] : [side * aspect, side];
    const canvas = makeCanvas(Math.round(width), Math.round(height));
    canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    for (const quality of QUALITIES) {
      const url = canvas.toDataURL("image/jpeg", quality);
      if (url.length * 0.75 <= MOST_PHOTO_BYTES) return url;
    }
  }
  throw new Error("The photograph does not get small enough.");
}

async function zipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const compressed = new Uint8Array(await new Response(stream).arrayBuffer());
  let text = "";
  for (let index = 0; index < compressed.length; index += 0x8000)
    text += String.fromCharCode(...compressed.subarray(index, index + 0x8000));
  return btoa(text);
}
