import assert from "node:assert/strict";
import { test } from "node:test";

import { dropOld, receive, receivePicture } from "../../../playground/microscope/lens/asking.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace, latestRequest, newRequests } from "./alens.mjs";

const keptIds = (lens) => [...lens.data.packs.keys()].join(" ");

// A lens that holds these traces: {name: size in megabytes}.
function lensHolding(sizes) {
  const { lens } = aLens();
  lens.data.packs.clear();
  const entries = Object.fromEntries(Object.keys(sizes).map((id) => [id, receive(lens.data, aTrace(id), packOf())]));
  for (const [id, size] of Object.entries(sizes)) entries[id].size = size * 1e6;
  return { lens, entries };
}

test("the trace that was shown longest ago is dropped first, and no more traces than have to be", () => {
  const { lens, entries } = lensHolding({ a: 60, b: 60, c: 60, d: 60 });
  dropOld(lens.data, [entries.a]);
  assert.equal(keptIds(lens), "d a", "a was shown now, so that b is the oldest");
});

test("a picture is asked for once and kept", async () => {
  const { lens, source } = aLens();
  const pictureRequest = receivePicture(lens.data, aTrace("cat"));
  latestRequest(source, "picture").answer("bitmap");
  const keptPicture = await pictureRequest;
  assert.deepEqual(keptPicture, { id: "picture of cat", bitmap: "bitmap" });
  assert.equal(
    await receivePicture(lens.data, { ...aTrace("cat in another model"), picture: aTrace("cat").picture }),
    keptPicture,
  );
  assert.deepEqual(newRequests(source), ["picture cat"]);
});
