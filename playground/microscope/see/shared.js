// What See makes to send on: the picture with its sentence, a loop, a page.
import { makeCanvas } from "../drawing/dom.js";
import { drawPicture } from "../drawing/draw.js";
import { makePhoto } from "../drawing/light.js";
import { printed } from "../lens/saving.js";
import { drawLoop, LOOP_SHAPES, loopPicture, makeLoop } from "./loop.js";
import { makeSharedPage } from "./sharedpage.js";

const WIDE_PICTURE = 620; // px of a picture for which its numbers and lines are made
const AT_REST_MS = 3000;

// see: {words, language, isPlain, sentence: () => {before, place, after}, made: () => the line below it, curve(w, h),
// shared, tryAt}, see see.js.
export function createShared(lens, see) {
  const { choice, data, frame } = lens;

  const isOfAPatch = () => see.isPlain() && frame.shown.mark >= 0;

  function momentIn(shape) {
    const { picture } = frame;
    const [width, height] = loopPicture(shape, frame.pictureWidth / frame.pictureHeight);
    const photo = makePhoto(data.main.picture.bitmap, width, height);
    const lit = makeCanvas(width, height);
    const print = printed(choice, data, frame, photo);
    const { mark } = picture;
    const unit = Math.max(width, height) / WIDE_PICTURE;
    drawPicture(lit.getContext("2d"), width, height, print, { ...picture, mark: -1, behind: null }, unit);
    const [wide, high] = [width / picture.columns, height / picture.rows];
    const corner = { x: (mark % picture.columns) * wide, y: Math.floor(mark / picture.columns) * high };
    const { before, place, after } = see.sentence();
    return {
      ...{ photo: photo.clear, lit, cell: mark < 0 ? null : { ...corner, width: wide, height: high } },
      curve: see.curve(width, height),
      sentence: [{ text: before }, ...(place ? [{ text: place, marked: true }] : []), { text: after }],
      made: see.made(),
    };
  }

  return {
    canShare: (way) =>
      isOfAPatch() && (way === "page" ? Boolean(see.shared) && "CompressionStream" in globalThis : way in LOOP_SHAPES),
    sharedStill() {
      const shape = LOOP_SHAPES[frame.pictureWidth > frame.pictureHeight ? "wide" : "tall"];
      const canvas = makeCanvas(shape.width, shape.height);
      drawLoop(canvas.getContext("2d"), shape, momentIn(shape), frame.colours.font, AT_REST_MS);
      return canvas;
    },
    sharedLoop(canvas, way, goesOn) {
      const shape = LOOP_SHAPES[way];
      return makeLoop(canvas, shape, momentIn(shape), frame.colours.font, goesOn);
    },
    async sharedPage() {
      const { before, place, after } = see.sentence();
      const title = `Attention: ${data.main.picture.title}`;
      const words = { title, tryYours: see.words("tryYours"), still: before + place + after };
      return makeSharedPage(lens, await see.shared(), { tryAt: see.tryAt(), words, language: see.language() });
    },
  };
}
