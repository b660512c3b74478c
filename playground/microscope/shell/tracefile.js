// A .trace, as Trace.save (playground/pack/record.py) writes it: one finished pass of any model, usually with its
// picture. This browser alone reads it. What needs the network is not offered.

import { FORMAT, openContainer, unpack } from "../core/core.js";
import { FILE_MODEL, isTraceFile } from "./choice.js";
import { Refusal } from "./http.js";
import { claimedSizeOf, idOf, smallPicture, toBitmap } from "./readable.js";

export const TRACE_NAME = /\.trace$/i;
export const MOST_TRACE_BYTES = 200e6;
const MOST_OPEN = 2; // files in memory: the one on view, and the one beside it
const COUNTS = { layers: 1000, heads: 1000, head_dim: 4096, tokens: 70_000, patch: 4096 }; // as in playground/pack
const MOST_PICTURE_SIDE = 4096; // pixels
const MOST_SCORE = 1e6; // largest absolute value in queries and keys
const WHOLE = { detail: 1, scale: null, cut: [], grids: [], opens: {}, offers: [], private: true };

const NO_TRACE = "This file can't be read as a .trace of the playground";
const A_RUN =
  "This .trace is the run of a training, which playground.watch wrote. In Python playground.watched(FILE) reads it.";
const GONE =
  "This browser does not have that .trace any more: it was forgotten, or was too large to be kept. Drop it here again.";

const isCount = (n, most, least = 1) => Number.isInteger(n) && n >= least && n <= most;
const isNumber = (x) => Number.isFinite(x) && Math.abs(x) < 1e9;
const areWords = (list) => list.length <= 1000 && list.every((text) => typeof text === "string" && text.length <= 300);

// What is wrong with a file's header, which may be a stranger's; "": nothing.
function faultOf(h) {
  const { grid, size, prefix, held, head_numbers: numbers = Array(h.heads).fill(0), interventions = [], cuts = [] } = h;
  const names = [h.model, h.assumed ?? "", h.picture_name ?? ""];
  const rules = {
    [`its format is not ${FORMAT}`]: h.format === FORMAT,
    "its layers, heads or tokens are no counts": Object.keys(COUNTS).every((name) => isCount(h[name], COUNTS[name])),
    "its names are no words": [names, prefix, interventions, cuts].every(areWords),
    "its grid is of another size":
      isCount(grid[0], h.tokens) &&
      prefix.length + grid[0] * grid[1] === h.tokens &&
      grid.every((count, i) => size[i] === count * h.patch),
    "its layers are none, or one comes twice":
      held.length > 0 && new Set(held).size === held.length && held.every((n) => isCount(n, h.layers - 1, 0)),
    "its heads differ": !h.some_heads && numbers.length === h.heads && numbers.every((n) => isCount(n, 999, 0)),
    "its scale is no number": isNumber(h.scale) && isNumber(h.forward_scale ?? 0),
  };
  return Object.keys(rules).find((fault) => !rules[fault]) ?? "";
}

// Returns the opened container of a file's bytes. Throws a sentence that says what is wrong.
export function checkTraceFile(bytes) {
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) throw new Refusal(415, A_RUN); // a zip
  let fault = "it is another file, or is damaged";
  try {
    const { header, section } = openContainer(bytes);
    const { heads, tokens, held, sections } = header;
    const wrong = Object.keys(sections).filter((n) => n !== "picture" && !areFinite(section(n), sections[n].dtype));
    fault = faultOf(header) || (wrong.length && `${wrong[0]} hold numbers that are none`) || fault;
    const norms = section("value_norms");
    const { q, k } = unpack(bytes).stored.get(held.at(-1)).decode(); // checks lengths, too
    const isWhole = Number.isFinite(q.at(-1) + k.at(-1)) && (!norms || norms.length === held.length * heads * tokens);
    if (isWhole && !faultOf(header) && !wrong.length) return { header, section };
  } catch {
    // the fault found so far stands
  }
  throw new Refusal(415, `${NO_TRACE}: ${fault}. Save it again with seen.save("mine.trace").`);
}

// Float16 numbers are bits: with all five bits of the exponent set, they are none.
const areFinite = (values, dtype) =>
  dtype === "float16"
    ? values.every((bits) => (bits & 0x7c00) !== 0x7c00)
    : dtype !== "float32" || values.every((x) => Math.abs(x) <= MOST_SCORE);

// The record of a file in the album (own.js).
export async function openTraceFile(file) {
  const bitmap = await pictureIn(checkTraceFile(new Uint8Array(await file.arrayBuffer())));
  const isGrey = !bitmap;
  const thumb = await smallPicture(bitmap ?? new OffscreenCanvas(1, 1));
  bitmap?.close();
  return { id: `t${await idOf(file)}`, title: file.name, thumb, isGrey };
}

// null where the file has no picture that this browser can show
async function pictureIn({ section }) {
  const blob = new Blob([section("picture") ?? ""]);
  const sides = blob.size ? await claimedSizeOf(blob) : null;
  return sides && Math.max(...sides) <= MOST_PICTURE_SIDE ? toBitmap(blob, MOST_PICTURE_SIDE).catch(() => null) : null;
}

async function traceOf({ id, blob, title: fileName }) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const file = checkTraceFile(bytes);
  const { model, interventions = [], cuts = [], layers, grid, picture_name: pictureName } = file.header;
  const title = [model, ...interventions, ...cuts.map((cut) => `cut ${cut}`)].join(", ");
  const picture = { id, title: pictureName || fileName, credit: "", hint: "" };
  const held = { bytes, picture: () => pictureIn(file) };
  const own = { id, digest: id, model: FILE_MODEL, title, layers, grid, picture, words: { mine: id }, held };
  return Object.freeze({ ...WHOLE, ...own });
}

// Makes a source answer for traces out of files, too. find(id): promises the entry of a person's picture.
export function answerTraceFiles(source, find) {
  const { open, layers, picture } = source;
  const opened = new Map(); // id → a promise of its trace, the latest last
  const openFile = async (id) => {
    const entry = await find(id);
    if (!entry) throw new Refusal(404, GONE);
    const trace = opened.get(id) ?? traceOf(entry);
    opened.delete(id);
    opened.set(id, trace);
    for (const oldest of opened.keys()) if (opened.size > MOST_OPEN) opened.delete(oldest);
    return trace;
  };
  return Object.assign(source, {
    open: (words, options) => (isTraceFile(words.mine) ? openFile(words.mine) : open(words, options)),
    layers: async (trace, ...more) => trace.held?.bytes ?? layers(trace, ...more),
    picture: async (trace, ...more) => (trace.held ? trace.held.picture() : picture(trace, ...more)),
  });
}
