import assert from "node:assert/strict";
import { test } from "node:test";

import { holdsAll } from "../../../playground/microscope/core/core.js";
import { dropOld, receive, receivePicture } from "../../../playground/microscope/lens/asking.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace, latestRequest, newRequests, passTime } from "./alens.mjs";

const keptIds = (lens) => [...lens.data.packs.keys()].join(" ");

// A lens that holds these traces: {name: size in megabytes}.
function lensHolding(sizes) {
  const { lens } = aLens();
  lens.data.packs.clear();
  const entries = Object.fromEntries(Object.keys(sizes).map((id) => [id, receive(lens.data, aTrace(id), packOf())]));
  for (const [id, size] of Object.entries(sizes)) entries[id].size = size * 1e6;
  return { lens, entries };
}

test("layers that come later join their trace, whose answers stay the same object", () => {
  const { lens } = aLens();
  const bytes = packOf({ held: [1] });
  const [entry, size, { answers }] = [lens.data.main, lens.data.main.size, lens.data.main];
  const entryAfter = receive(lens.data, aTrace("cat"), bytes);
  assert.deepEqual(
    [entryAfter === entry, entryAfter.answers === answers, answers.pack === entryAfter.pack],
    [true, true, true],
  );
  assert.deepEqual([holdsAll(entryAfter.pack, 0), holdsAll(entryAfter.pack, 1)], [true, true]);
  assert.equal(entryAfter.size, size + bytes.byteLength, "what is held is counted as it came");
  assert.notEqual(receive(lens.data, aTrace("dog"), bytes), entry);
  assert.equal(keptIds(lens), "cat dog");
});

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

test("twelve pictures are kept; the one that was shown longest ago goes", async () => {
  const { lens, source } = aLens();
  const showPicture = async (n) => {
    const pictureRequest = receivePicture(lens.data, aTrace(`n${n}`));
    if (!lens.data.pictures.has(`picture of n${n}`)) latestRequest(source, "picture").answer(n);
    await pictureRequest;
  };
  for (let n = 0; n < 12; n++) await showPicture(n);
  await showPicture(0);
  await showPicture(12);
  assert.deepEqual(
    [...lens.data.pictures.values()].map(({ bitmap }) => bitmap),
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 12],
  );
});

test("a picture that could not be had is asked for again", async () => {
  const { lens, source } = aLens();
  const pictureRequest = receivePicture(lens.data, aTrace("cat"));
  latestRequest(source, "picture").fail(new Error("no"));
  await assert.rejects(pictureRequest, /no/);
  assert.equal(lens.data.pictures.size, 0);
  receivePicture(lens.data, aTrace("cat"));
  await passTime();
  assert.deepEqual(newRequests(source), ["picture cat", "picture cat"]);
});
