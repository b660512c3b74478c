// Mounts the lens as a component of Streamlit (components v2).
//
// Data comes in as one blob of bytes (bytes inside a dict would arrive as text): the same container as a pack,
//   u32 LE header length n | UTF-8 JSON header, padded with spaces so that 4 + n is a multiple of 16 | sections
// with the header
//   {"format":   "attention-playground/page-1",
//    "packs":    [{"id": "sha…", "section": "pack0", "title": "DINOv2 S", "image": 0}, …],
//    "images":   [{"id": "sha…", "section": "image0", "mime": "image/jpeg", "title": "tabby", "start": [0.6, 0.4]}, …],
//    "place":    "model=…&sample=…", of the picture and the model in the address,
//    "view":     {…}, "view_id": "…",
//    "shows":    {"chosen": "meadow", "own": []}, for the strip of samples (see strip.js),
//    "overlay":  {"section": "overlay0", "what": "rollout", "query": "7,5", "scale": "on"} or null,
//    "matrix":   {"section": "matrix", "what": "features" or "flows", "pack": "sha…", "layer": 8}, only once,
//    "habits":   {"pack": "sha…", "complete": true, "layers": {"6": [[label, short, colour] of each head]}}, once,
//    "ui":       {"height": 600, "uploaded": false, "asks": ["features", "rollout", "whole", "layers"],
//                 "link": "https://…"}, the address that links start from; default: where the page is
//    "sections": {"pack0": {"offset": 0, "dtype": "uint8", "shape": [2613248]}, "overlay0": {…"float32"…}, …}}
//
// The lens keeps packs and images by their id. One that was sent before may come without "section", so that an overlay
// or a view does not carry megabytes; if it is missing after all (the page was reloaded), the lens asks for it.
// "view" is applied when "view_id" changes (and the first time), so that a rerun never takes a choice back.
//
// Out go the state "view" (as it stands in a link, 300 ms after the last choice), the triggers "ask" (see lens/lens.js)
// "tour" (begin it) and "scene" (go to its address), and for the strip of samples "pick" and "photo" (see strip.js).

import { openContainer } from "../core/core.js";
import { DEFAULT_VIEW, viewToQuery } from "../core/view.js";
import { createLens } from "../lens/lens.js";
import { followErrors } from "./errors.js";
import { greetOnce } from "./firstvisit.js";
import { createSender } from "./resend.js";
import { keepScenes, keptScenes, takeScenesOfLink } from "./scenestore.js";
import { isWithin, SKIP } from "./streamlitparts.js";

const UPLOADS = 15000; // ms that a file may take to the server; then the former picture takes clicks again

// The page's own address with every choice that differs from the defaults as a query parameter of the same name.
function linkTo(base, view) {
  const url = new URL(base, location.href);
  for (const key of Object.keys(DEFAULT_VIEW)) url.searchParams.delete(key);
  for (const [key, value] of new URLSearchParams(viewToQuery(view))) url.searchParams.set(key, value);
  return url.href;
}

const ON_ITS_WAY = "Your photograph is on its way";

// Streamlit's own box for files sends the file itself; where it refuses one, no answer ever comes.
function waitForUpload(kept) {
  kept.lens.wait(ON_ITS_WAY);
  clearTimeout(kept.uploading);
  kept.uploading = setTimeout(() => kept.lens.wait(null), UPLOADS);
}

// Streamlit's link past everything ends before the toolbar; here it leads to the picture.
function skipToPicture(kept, event) {
  if (!isWithin(event.target, SKIP)) return;
  event.preventDefault();
  event.stopPropagation();
  kept.lens.focus();
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  let kept = parentElement.__microscope;
  const host = {
    onView: (view) => setStateValue("view", viewToQuery(view)),
    // Streamlit drops a value that equals the last one; the stamp makes a repeated question different.
    ask: (request) => kept.sender.send("ask", { ...request, stamp: Date.now() }),
    scenes: {
      read: keptScenes,
      write: keepScenes,
      show: (address) => kept.sender.send("scene", { address, stamp: Date.now() }),
    },
    showMe: () => kept.sender.send("tour", { stamp: Date.now() }),
  };
  if (!kept) {
    const place = parentElement.querySelector?.("[data-lens]") ?? parentElement;
    takeScenesOfLink();
    kept = parentElement.__microscope = Object.seal({
      lens: null,
      data: null, //        the bytes that came last
      viewId: undefined,
      say: null, //         Streamlit's setTriggerValue
      sender: createSender(
        () => kept.say,
        () => kept.lens.wait(null),
      ),
      choose: null, //      takes the strip's choices
      errors: followErrors(),
      uploading: 0, //      a timer
      stop: new AbortController(), // of the listeners on the document
    });
    kept.lens = createLens(place, { ...host, ui: { asks: [] } });
    const { signal } = kept.stop;
    document.addEventListener("attention-chosen", (event) => kept.choose(event), { signal });
    document.addEventListener("attention-coming", () => waitForUpload(kept), { signal });
    document.addEventListener("click", (event) => skipToPicture(kept, event), { signal, capture: true });
  }
  kept.say = setTriggerValue;
  kept.choose = (event) => {
    event.preventDefault(); // tells the strip that it is taken care of
    if (event.detail.what === "photo") kept.lens.wait(ON_ITS_WAY);
    kept.sender.send(event.detail.what, event.detail.value);
  };
  kept.lens.setHost(host);
  if (data && data !== kept.data) {
    kept.data = data;
    const { header, section } = openContainer(data);
    const part = (given) => (given.section ? { ...given, bytes: section(given.section) } : given);
    const next = {
      packs: header.packs.map(part),
      images: (header.images ?? []).map(part),
      ui: header.ui ?? {},
      place: header.place ?? "",
    };
    kept.lens.setHost({ link: (view) => linkTo(header.ui?.link ?? location.href, view) });
    const viewId = header.view_id ?? null;
    if (kept.viewId !== viewId) next.view = header.view ?? {};
    kept.viewId = viewId;
    if (header.matrix) next.matrix = { ...header.matrix, values: section(header.matrix.section) };
    if (header.habits) next.habits = header.habits;
    if (header.overlay) next.overlay = { ...header.overlay, values: section(header.overlay.section) };
    kept.lens.update(next);
    kept.sender.confirm();
    kept.errors.outdated();
    document.dispatchEvent(new CustomEvent("attention-shown", { detail: header.shows }));
    greetOnce(kept.lens);
  } else kept.lens.refresh(); // called again for a theme switch: same data, other colours

  return () => {
    kept.stop.abort();
    kept.sender.stop();
    kept.errors.stop();
    clearTimeout(kept.uploading);
    kept.lens.destroy();
    delete parentElement.__microscope;
  };
}
