// A few patches ask one after the other, in three seconds: the frames of a small film to send on, with the sentence of
// each beneath it. It ends where it begins, so that it can go round.

import { outlineCell } from "./canvas.js";

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
