import assert from "node:assert/strict";
import { test } from "node:test";

import { holdsAll } from "../../../playground/microscope/core/core.js";
import { fetchEntries } from "../../../playground/microscope/lens/asking.js";
import { packOf } from "../packs.mjs";
import { aLens, aTrace, latestRequest, newRequests, passTime } from "./alens.mjs";

const DOG_TRACE = aTrace("dog");
const refusalOf = (status) => Object.assign(new Error(`refused: ${status}`), { status });

test("a trace comes with its picture and the one head on view", async () => {
  const { lens, source } = aLens();
  const broughtEntries = fetchEntries(lens, [DOG_TRACE], { layer: "2", head: "1" });
  assert.deepEqual(newRequests(source), ["layers dog 2", "picture dog"]);
  assert.deepEqual(latestRequest(source, "layers").heads, [1]);
  latestRequest(source, "layers").answer(packOf({ held: [2], some: [1] }));
  latestRequest(source, "picture").answer("bitmap");
  const [entry] = await broughtEntries;
  assert.deepEqual([entry.trace, entry.picture], [DOG_TRACE, { id: "picture of dog", bitmap: "bitmap" }]);
  assert.equal(entry, lens.data.packs.get("dog"));
});

test("a newer wish ends the former, which gives nothing, whether it comes or fails", async () => {
  for (const endRequest of [
    (question) => question.answer(packOf()),
    (question) => question.fail(new Error("stopped")),
    (question) => question.fail(refusalOf(400)),
  ]) {
    const { lens, source } = aLens();
    const formerRequest = fetchEntries(lens, [DOG_TRACE], { layer: 0, head: 0 });
    const [layers, picture] = source.questions;
    newRequests(source);
    const newerRequest = fetchEntries(lens, [aTrace("owl")], { layer: 0, head: 0 });
    assert.deepEqual([layers.signal.aborted, picture.signal.aborted], [true, true]);
    endRequest(layers);
    picture.answer("bitmap");
    assert.equal(await formerRequest, null);
    assert.deepEqual(newRequests(source), ["layers owl 0", "picture owl"], "nothing more is asked for the former");
    latestRequest(source, "layers owl").answer(packOf());
    latestRequest(source, "picture owl").answer("bitmap");
    assert.equal((await newerRequest)[0].id, "owl");
  }
});

test("a layer that the model has not falls back to what the source chooses, all heads of it", async () => {
  const { lens, source } = aLens();
  const broughtEntries = fetchEntries(lens, [DOG_TRACE], { layer: 11, head: 9 });
  latestRequest(source, "picture").answer("bitmap");
  latestRequest(source, "layers").fail(refusalOf(400));
  await passTime();
  assert.deepEqual(newRequests(source), ["layers dog 11", "picture dog", "layers dog "]);
  const question = latestRequest(source, "layers");
  assert.deepEqual([question.heads, question.signal.aborted], [undefined, false]);
  question.answer(packOf({ held: [2] }));
  const [entry] = await broughtEntries;
  assert.ok(holdsAll(entry.pack, 2));
});

test("any other refusal is told to who wished, and asked no further", async () => {
  for (const status of [0, 404, 410, 500]) {
    const { lens, source } = aLens();
    const broughtEntries = fetchEntries(lens, [DOG_TRACE], { layer: 0, head: 0 });
    latestRequest(source, "layers").fail(refusalOf(status));
    await assert.rejects(broughtEntries, { status });
    assert.deepEqual(newRequests(source), ["layers dog 0", "picture dog"]);
  }
});

test("without its picture a trace is shown all the same, and the lens says so", async () => {
  const { lens, source } = aLens();
  const broughtEntries = fetchEntries(lens, [DOG_TRACE], { layer: 0, head: 0 });
  latestRequest(source, "layers").answer(packOf());
  latestRequest(source, "picture").fail(new Error("broken"));
  const [entry] = await broughtEntries;
  assert.equal(entry.picture.bitmap, null);
  assert.equal(lens.page.refs.message.textContent, "The image could not be read; its attention still can.");
});
