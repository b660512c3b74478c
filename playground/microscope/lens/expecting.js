// A picture that is on its way: the photograph is shown at once, where and as large as it will stand, and nothing of
// the former picture is claimed any more.
import { fitCanvas } from "../drawing/dom.js";
import { refresh } from "./layout.js";

// `bitmap`: what is shown until a trace of it is here; null: the former picture is shown again.
export function expectPicture(lens, bitmap) {
  const { frame, page } = lens;
  if (!bitmap && !page.expected) return;
  page.expected?.close?.();
  page.expected = bitmap;
  page.root.classList.toggle("expects", Boolean(bitmap));
  refresh(lens);
  if (!bitmap) return;
  const canvas = expectedCanvas(page);
  fitCanvas(canvas, frame.pictureWidth, frame.pictureHeight, frame.ratio);
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  page.see?.expects();
}

// Its trace is shown from now on.
export function endExpecting(page) {
  page.expected?.close?.();
  page.expected = null;
  page.root.classList.remove("expects", "waits");
}

function expectedCanvas({ refs }) {
  const there = refs.pictureBox.querySelector(".expected");
  if (there) return there;
  const canvas = document.createElement("canvas");
  canvas.className = "expected";
  refs.pictureBox.append(canvas);
  return canvas;
}
