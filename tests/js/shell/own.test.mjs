import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { catalogue, choice } from "../../../playground/microscope/shell/choice.js";
import { aDatabase, aServer, CATALOGUE, goTo, json } from "./browser.mjs";

Object.assign(catalogue, CATALOGUE);

const idOf = (n) => n.toString(16).padStart(16, "0");
let visits = 0;
let database = null;
const aVisit = async () => (await import(`../../../playground/microscope/shell/own.js?visit=${visits++}`)).ownPictures;

// A server that accepts photographs and gives each the next id.
function photographServer() {
  let count = 0;
  return aServer(({ method, path }) => {
    if (method === "DELETE") return json({});
    const id = path.includes("labelled") ? idOf(0xc1fa) : idOf(++count);
    return json({ id, title: `photo ${id}`, thumb: `data:,${id}` });
  });
}
const numbersOf = (list) => list.map(({ id }) => Number.parseInt(id, 16));
const photograph = (name = "cat.jpg") => new File(["bytes"], name, { type: "image/jpeg" });

beforeEach(() => {
  goTo("/microscope");
  database = aDatabase();
  choice.open({ sample: "tabby" });
});

test("of two photographs on their way the last one is shown, though its answer comes first", async () => {
  const answers = [];
  aServer(() => new Promise((answer) => answers.push(answer)));
  const album = await aVisit();
  const opened = [album.open(photograph("first.jpg")), album.open(photograph("last.jpg"))];
  while (answers.length < 2) await new Promise((resolve) => setTimeout(resolve));
  for (const n of [1, 0]) {
    answers[n](json({ id: idOf(n), title: "", thumb: "" }));
    await opened[n];
    assert.equal(choice.now.mine, idOf(1));
  }
});

test("eight photographs are kept; the oldest goes, and one that comes again is the latest", async () => {
  photographServer();
  const album = await aVisit();
  await album.read();
  for (let n = 0; n < 10; n++) await album.open(photograph());
  assert.deepEqual(numbersOf(album.list), [3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal(database.kept().length, 8);
  aServer(() => json({ id: idOf(5), title: "again", thumb: "data:," }));
  await album.open(photograph());
  assert.deepEqual(numbersOf(album.list), [3, 4, 6, 7, 8, 9, 10, 5]);
});

test("a class link reads nothing from this browser and keeps nothing in it", async () => {
  photographServer();
  await (await aVisit()).open(photograph());
  goTo("/microscope?class=yes");
  const album = await aVisit();
  await album.read();
  assert.deepEqual(album.list, []);
  await album.open(photograph());
  assert.deepEqual(numbersOf(album.list), [2], "on the page it is there");
  assert.deepEqual(numbersOf(database.kept()), [1]);
});

test("a browser that keeps nothing keeps the photographs as long as the page", async () => {
  photographServer();
  globalThis.indexedDB = undefined;
  const album = await aVisit();
  await album.read();
  await album.open(photograph());
  assert.deepEqual(numbersOf(album.list), [1]);
});

test("a photograph that several parts miss at once is sent once; later, again", async () => {
  const server = photographServer();
  const album = await aVisit();
  await album.open(photograph());
  const results = await Promise.all([album.bringAgain(idOf(1)), album.bringAgain(idOf(1)), album.bringAgain(idOf(1))]);
  assert.deepEqual([results, server.questions.length], [[true, true, true], 2]);
  await album.bringAgain(idOf(1));
  assert.equal(server.questions.length, 3);
});

test("a file above the limit is refused with its size, and not sent", async () => {
  const server = photographServer();
  const album = await aVisit();
  await assert.rejects(album.open({ name: "huge.tif", size: 45e6 }), ({ says }) => /45 MB.*At most 32 MB/.test(says));
  assert.deepEqual(server.questions, []);
});
