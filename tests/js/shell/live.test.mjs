import assert from "node:assert/strict";
import { test } from "node:test";

import { choice } from "../../../playground/microscope/shell/choice.js";
import { preferSource } from "../../../playground/microscope/shell/httpsource.js";
import { createLive, liveFrame } from "../../../playground/microscope/shell/live.js";
import "./browser.mjs";
import { page, until } from "./page.mjs";

const FRAMES = 5;

test("a frame is kept until the next one is shown, and none is kept when the camera stops", async () => {
  const { prototype } = page.HTMLVideoElement;
  for (const [name, value] of Object.entries({ readyState: 4, videoWidth: 1280, videoHeight: 720 }))
    Object.defineProperty(prototype, name, { value, configurable: true });
  Object.assign(prototype, { play: async () => {}, pause() {} });
  const stream = Object.assign(new page.MediaStream(), { getTracks: () => [] });
  Object.defineProperty(navigator, "mediaDevices", { value: { getUserMedia: async () => stream } });
  Object.assign(globalThis, {
    createImageBitmap: async (_, { resizeWidth: width, resizeHeight: height }) => ({ width, height }),
    requestAnimationFrame: (act) => setImmediate(act),
  });
  preferSource({ has: () => true, open: async ({ mine: id, model }) => ({ id, model, title: "small" }) });
  choice.open({ sample: "tabby", model: "dino" });

  const [shownFrames, keptCounts, sizes] = [[], [], []];
  const keptOf = (ids) => ids.filter(liveFrame);
  const lens = {
    view: { locked: false, layer: null },
    read: () => null,
    async show({ main: { id } }) {
      sizes.push([liveFrame(id).width, liveFrame(id).height]);
      keptCounts.push(keptOf(shownFrames).length); // the frame on view, which fades while the next one is shown
      shownFrames.push(id);
      if (shownFrames.length === FRAMES) live.stop();
      return true;
    },
  };
  const place = document.createElement("div");
  const live = createLive({ lens, place, modelFor: async (model) => model, back() {}, stageLeft: new EventTarget() });
  live.camera();
  await until(() => shownFrames.length === FRAMES && !keptOf(shownFrames).length, "the frames are freed");
  assert.deepEqual(keptCounts, [0, 1, 1, 1, 1]);
  assert.equal(place.children.length, 0);
  assert.deepEqual(sizes, Array(FRAMES).fill([640, 360]));
});
