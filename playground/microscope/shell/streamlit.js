// The wiring to Streamlit's components v2, and nothing else.
//
// What comes in is one blob of bytes (a dict with bytes in it would arrive as text): the same container as a pack,
//   u32 LE header length n | UTF-8 JSON header, space-padded so that 4 + n is a multiple of 16 | sections at multiples of 16
// with the header
//   {"format":   "attention-playground/page-1",
//    "packs":    [{"id": "sha…", "section": "pack0", "title": "DINOv2 S", "image": 0}, …],
//    "images":   [{"id": "sha…", "section": "image0", "mime": "image/jpeg", "title": "tabby", "start": [0.6, 0.4]}, …],
//    "view":     {…}, "view_id": "…",
//    "shows":    {"chosen": "meadow", "own": null}, for the strip of samples (see strip.js),
//    "overlay":  {"section": "overlay0", "what": "similarity", "query": "7,5", "layer": 8, "scale": "on"} or null,
//    "ui":       {"height": 600, "uploaded": false, "asks": ["similarity", "rollout", "whole", "layers"], "link": "https://…"
//                 (the address that links start from; default: where the page is)},
//    "sections": {"pack0": {"offset": 0, "dtype": "uint8", "shape": [2613248]}, "overlay0": {…"float32"…}, …}}
//
// Packs and images are kept here by their id. One that has been sent before may come without "section", so that a small
// answer (an overlay, a view) does not carry megabytes; should it be missing after all (a reloaded page), it is asked for.
// "view" is applied when "view_id" changes (and the first time), so that a rerun never takes a choice back.
//
// What goes out: state "view" (as it stands in a link, 300 ms after the last lock or choice), trigger "ask" (see lens.js),
// and the strip's "pick" and "photo" (see strip.js).

import { openContainer } from "../core/core.js";
import { DEFAULT_VIEW, viewToQuery } from "../core/view.js";
import { createLens } from "../lens/lens.js";
import { holdChoices } from "./holding.js";

// The page's own address with every choice that differs from the defaults as a query parameter of the same name.
function linkTo(base, view) {
  const url = new URL(base, location.href);
  for (const key of Object.keys(DEFAULT_VIEW)) url.searchParams.delete(key);
  for (const [key, value] of new URLSearchParams(viewToQuery(view))) url.searchParams.set(key, value);
  return url.href;
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  let kept = parentElement.__microscope;
  const host = {
    onView: (view) => setStateValue("view", viewToQuery(view)),
    // The stamp makes a repeated question a new value; Streamlit would swallow an equal one.
    ask: (request) => kept.holding.choose("ask", { ...request, stamp: Date.now() }),
  };
  if (!kept) {
    const place = parentElement.querySelector?.("[data-lens]") ?? parentElement;
    kept = { lens: createLens(place, { ...host, ui: { asks: [] } }), data: null, viewId: undefined };
    parentElement.__microscope = kept;
    kept.holding = holdChoices(() => kept.say);
    kept.stop = new AbortController();
    document.addEventListener("attention-chosen", (event) => kept.choose(event), { signal: kept.stop.signal });
  }
  kept.say = setTriggerValue;
  kept.choose = (event) => {
    event.preventDefault(); // taken
    kept.holding.choose(event.detail.what, event.detail.value);
  };
  kept.lens.setHost(host);
  if (data && data !== kept.data) {
    kept.data = data;
    const { header, section } = openContainer(data);
    const part = (given) => (given.section ? { ...given, bytes: section(given.section) } : given);
    const next = { packs: header.packs.map(part), images: (header.images ?? []).map(part), ui: header.ui ?? {} };
    kept.lens.setHost({ link: (view) => linkTo(header.ui?.link ?? location.href, view) });
    const viewId = header.view_id ?? null;
    if (kept.viewId !== viewId) next.view = header.view ?? {};
    kept.viewId = viewId;
    if (header.overlay) next.overlay = { ...header.overlay, values: section(header.overlay.section) };
    kept.lens.update(next);
    kept.holding.drawn();
    document.dispatchEvent(new CustomEvent("attention-shown", { detail: header.shows }));
  } else kept.lens.refresh(); // called again for a theme switch: same data, other colours

  return () => {
    kept.stop.abort();
    kept.holding.stop();
    kept.lens.destroy();
    delete parentElement.__microscope;
  };
}
