// Mounts the time-lapse of a training run as a component of Streamlit.
//
// Data comes in as one blob of bytes, the same container as a pack (see streamlit.js), with the header
//   {"format": "attention-playground/reel-1", "run": "…", "moments": [0, 10, …], "planned": 13, "kinds": […],
//    "growing": false, "packs": [{"step": 0, "section": "pack0"}, …], only those that the browser does not have
//    "view": {"moment": 81, "layer": 4, "head": 0, "patch": "8,6"}, "view_id": 1,
//    "losses": […], "sections": {curve, entropy, mass, image, pack0, …}}
// "view" is applied when "view_id" changes. Out go the state "view" (as it stands in a link) and the trigger "ask".

import { openContainer } from "../core/core.js";
import { createReel } from "../lessons/reel.js";

const tableOf = (values, columns) =>
  Array.from({ length: values.length / columns }, (_, i) => values.subarray(i * columns, (i + 1) * columns));

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  let kept = parentElement.__training;
  const host = {
    onView: (view) => setStateValue("view", new URLSearchParams(view).toString()),
    // Streamlit drops a value that equals the last one; the stamp makes a repeated question different.
    ask: (request) => setTriggerValue("ask", { ...request, stamp: Date.now() }),
  };
  if (!kept) {
    const place = parentElement.querySelector?.("[data-reel]") ?? parentElement;
    kept = parentElement.__training = { reel: createReel(place, host), data: null, viewId: undefined };
  }
  kept.reel.setHost(host);
  if (data && data !== kept.data) {
    kept.data = data;
    const { header, section } = openContainer(data);
    const next = {
      ...header,
      packs: header.packs.map((given) => ({ step: given.step, bytes: section(given.section) })),
      curve: tableOf(section("curve"), 1 + header.losses.length),
      entropy: section("entropy"),
      mass: section("mass"),
      image: section("image"),
      view: header.view_id === kept.viewId ? null : header.view,
    };
    kept.viewId = header.view_id;
    kept.reel.update(next);
  } else kept.reel.refresh(); // called again for a theme switch: same data, other colours

  return () => {
    kept.reel.destroy();
    delete parentElement.__training;
  };
}
