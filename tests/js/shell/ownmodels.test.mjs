import assert from "node:assert/strict";
import { test } from "node:test";

import "./browser.mjs";
import { forgetNotice } from "../../../playground/microscope/shell/notice.js";
import { areModel, cardOfOpened, createOwnModels, readDrop } from "../../../playground/microscope/shell/ownmodels.js";
import { openModel } from "../../../playground/microscope/weights/opening.js";

const config = {
  ...{ width: 8, heads: 2, depth: 1, mlp_width: 16, patch_size: 4, image_size: [8, 8], classes: 0, registers: 0 },
  ...{ cls_token: true, pool: "token", norm_place: "nowhere", positions: "learned" },
};
const SHAPES = {
  ...{
    cls_token: [1, 1, 8],
    pos_embed: [1, 5, 8],
    "patch_embed.proj.weight": [8, 3, 4, 4],
    "patch_embed.proj.bias": [8],
  },
  ...{ "blocks.0.norm1.weight": [8], "blocks.0.norm1.bias": [8], "blocks.0.norm2.weight": [8] },
  ...{ "blocks.0.norm2.bias": [8], "blocks.0.attn.qkv.weight": [24, 8], "blocks.0.attn.qkv.bias": [24] },
  ...{ "blocks.0.attn.proj.weight": [8, 8], "blocks.0.attn.proj.bias": [8], "blocks.0.mlp.fc1.weight": [16, 8] },
  ...{ "blocks.0.mlp.fc1.bias": [16], "blocks.0.mlp.fc2.weight": [8, 16], "blocks.0.mlp.fc2.bias": [8] },
};

function fileOf(name, { withConfig = true } = {}) {
  const header = withConfig ? { __metadata__: { config: JSON.stringify(config) } } : {};
  let offset = 0;
  for (const [key, shape] of Object.entries(SHAPES)) {
    const bytes = 4 * shape.reduce((a, b) => a * b, 1);
    header[key] = { dtype: "F32", shape, data_offsets: [offset, (offset += bytes)] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  return new File([new BigUint64Array([BigInt(text.length)]), text, new Uint8Array(offset)], name);
}

// Does the work of weights/worker.js in this thread.
function aWorker() {
  const listeners = { message: [], error: [] };
  const worker = {
    ended: false,
    addEventListener: (kind, listener) => listeners[kind].push(listener),
    terminate: () => (worker.ended = true),
    async postMessage({ files, ...options }) {
      const data = await openModel(files, options).then(
        (model) => ({ model }),
        ({ message }) => ({ error: message }),
      );
      if (!worker.ended) for (const listener of listeners.message) listener({ data });
    },
    break: () => listeners.error.forEach((listener) => listener()),
  };
  return worker;
}

function aPage() {
  const page = { cards: { bundled: {} }, weights: {}, chosen: [], workers: [] };
  page.own = createOwnModels({
    beginWorker: () => [page.workers.push(aWorker()), page.workers.at(-1)][1],
    taken: (name) => name in page.cards,
    add: (name, card, blob) =>
      Object.assign(page, { cards: { ...page.cards, [name]: card }, weights: { ...page.weights, [name]: blob } }),
    remove: (name) => [delete page.cards[name], delete page.weights[name]],
    choose: (name) => page.chosen.push(name),
  });
  return page;
}

const shownText = () => document.querySelector(".attention-notice:not([hidden]) span")?.textContent ?? "";

test("files of weights are told from pictures", () => {
  assert.ok(areModel([{ name: "config.json" }, { name: "a.safetensors" }]));
  assert.ok(areModel([{ name: "model.PTH" }]), "it is refused in a sentence");
  assert.ok(!areModel([{ name: "cat.jpg" }, { name: "a.json" }]));
});

test("a dropped model is called after its file, chosen, and its worker ends", async () => {
  const page = aPage();
  assert.equal(await page.own.open({ files: [fileOf("mine.safetensors")] }), "mine");
  assert.deepEqual(page.chosen, ["mine"]);
  assert.equal(page.workers[0].ended, true);
  const { title, patch, layers, heads, head_dim, prefix, grid, asked: isAsked } = page.cards.mine;
  assert.deepEqual(
    { title, patch, layers, heads, head_dim, prefix, grid, asked: isAsked },
    {
      ...{ title: "mine", patch: 4, layers: 1, heads: 2, head_dim: 4, prefix: ["cls"], grid: [2, 2], asked: false },
    },
  );
  assert.ok(page.weights.mine.size > 1000);
  assert.match(shownText(), /^mine is here/);
});

test("what is assumed is told until the notice is closed, and what a person says instead is taken", async () => {
  const page = aPage();
  const files = [fileOf("mine.safetensors", { withConfig: false })];
  assert.equal(await page.own.open({ files }), "mine");
  forgetNotice(); // another picture removes it
  assert.match(shownText(), /^Assumed of mine: .*, 1 heads of 8, .* say otherwise\.$/);
  assert.equal(page.cards.mine.heads, 1);
  const words = { num_heads: "2", mean: "" };
  assert.equal(
    await page.own.open({ files }, { given: words, replacedName: "mine" }),
    "mine (2)",
    "the page shows it anew",
  );
  assert.equal(page.cards["mine (2)"].heads, 2);
  assert.ok(!("mine" in page.cards));
  assert.doesNotMatch(shownText(), /heads of/);
});

test("what is wrong is said in a sentence, and nothing is lost", async () => {
  const page = aPage();
  await page.own.open({ files: [fileOf("mine.safetensors")] });
  assert.equal(await page.own.open({ files: [new File([new Uint8Array(100).fill(255)], "noise.safetensors")] }), null);
  assert.match(shownText(), /^noise\.safetensors is not a readable safetensors file/);
  assert.deepEqual(page.chosen, ["mine"]);
  assert.deepEqual(Object.keys(page.cards), ["bundled", "mine"]);
});

test("the model that is dropped last is the one that opens", async () => {
  const page = aPage();
  const [first, second] = ["a", "b"].map((name) => page.own.open({ files: [fileOf(`${name}.safetensors`)] }));
  assert.equal(await second, "b");
  assert.equal(page.workers[0].ended, true);
  assert.deepEqual(page.chosen, ["b"]);
  void first;
});

test("a model at an address comes only from where the page may take one", async () => {
  const page = aPage();
  const requests = [];
  globalThis.fetch = async (address) => {
    requests.push(address);
    const isThere = address.endsWith(".safetensors");
    return { ok: isThere, status: isThere ? 200 : 404, headers: new Headers(), blob: async () => fileOf("x") };
  };
  await page.own.bring("https://elsewhere.example/a/mine.safetensors", ["https://models.example"]);
  assert.deepEqual(requests, []);
  assert.match(shownText(), /takes no models from https:\/\/elsewhere\.example: .* site --models-from/);
  assert.equal(await page.own.bring("https://models.example/a/mine.safetensors", ["https://models.example"]), "mine");
  assert.deepEqual(
    requests.map((address) => address.split("/").at(-1)),
    [...["mine.safetensors", "config.json", "preprocessor_config.json"]],
  );
});

test("of a folder its weights and what lies beside them are read", async () => {
  const entry = (name) => ({ isFile: true, name, file: (resolve) => resolve(new File([], name)) });
  const batches = [[entry("model.safetensors"), entry("readme.md")], [entry("config.json")], []];
  const folder = {
    isDirectory: true,
    name: "leaves",
    createReader: () => ({ readEntries: (onEntries) => onEntries(batches.shift()) }),
  };
  const drop = await readDrop({ files: [], items: [{ webkitGetAsEntry: () => folder }] });
  assert.equal(drop.folder, "leaves");
  assert.deepEqual(
    drop.files.map(({ name }) => name),
    ["model.safetensors", "config.json"],
  );
});

test("a model whose grid is finer than a browser can is cut more coarsely, and looked at coarsely first", () => {
  const config = { width: 64, heads: 1, depth: 1, patch_size: 16, prefix: [], labels: [], multi_label: false };
  const card = cardOfOpened({ config: { ...config, native_grid: [64, 64] }, name: "x", bytes: 9e6, notice: "" });
  assert.deepEqual([card.grid, card.first, card.details], [[40, 40], [16, 16], [1]]);
  const smallCard = cardOfOpened({ config: { ...config, native_grid: [14, 14] }, name: "x", bytes: 9e6, notice: "" });
  assert.deepEqual([smallCard.grid, smallCard.first, smallCard.details], [[14, 14], null, [1, 2]]);
});
