import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { catalogue, choice } from "../../../playground/microscope/shell/choice.js";
import { aDatabase, aServer, CATALOGUE, goTo, json } from "./browser.mjs";

Object.assign(catalogue, CATALOGUE);

const FORGET_REQUEST = "DELETE api/pictures";
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
const requestsTo = (server) => server.questions.map(({ method, path }) => `${method} ${path}`);
const numbersOf = (list) => list.map(({ id }) => Number.parseInt(id, 16));
const photograph = (name = "cat.jpg") => new File(["bytes"], name, { type: "image/jpeg" });

beforeEach(() => {
  goTo("/microscope");
  database = aDatabase();
  choice.open({ sample: "tabby" });
});

test("a photograph is sent by its name, kept in this browser, and chosen", async () => {
  const server = photographServer();
  const album = await aVisit();
  const reports = [];
  album.follow((list) => reports.push(list.length));
  await album.read();
  const file = photograph("Ein Kätzchen & <b>.jpg");
  await album.open(file);
  const [{ method, path, body, headers }] = server.questions;
  assert.deepEqual([method, path, body], ["POST", "api/pictures", file]);
  assert.equal(decodeURIComponent(headers["X-Playground-Name"]), file.name);
  assert.match(headers["X-Playground-Name"], /^[\x21-\x7e]*$/, "a header holds plain letters alone");
  assert.deepEqual([choice.now.mine, choice.now.sample], [idOf(1), null]);
  const [{ id, title, src, blob }] = album.list;
  assert.deepEqual([id, title, src, blob], [idOf(1), `photo ${idOf(1)}`, `data:,${idOf(1)}`, file]);
  assert.deepEqual(numbersOf(database.kept()), [1]);
  assert.equal(reports.at(-1), 1);
});

test("a photograph that is refused is neither kept nor chosen, and its sentence is told", async () => {
  aServer(() => json({ says: "This file is no picture." }, 400));
  const album = await aVisit();
  await assert.rejects(album.open(photograph()), { says: "This file is no picture." });
  assert.deepEqual([album.list, choice.now.sample, database.kept()], [[], "tabby", []]);
});

test("a photograph is on its way until it has come or was refused", async () => {
  photographServer();
  const album = await aVisit();
  const reports = [];
  album.follow(() => reports.push(album.sendingCount));
  const promise = album.open(photograph());
  assert.equal(album.sendingCount, 1);
  await promise;
  aServer(() => json({ says: "no" }, 400));
  await assert.rejects(album.open(photograph()));
  assert.deepEqual([album.sendingCount, reports], [0, [1, 1, 0, 1, 0]]);
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

test("a reload brings the photographs back, the latest last", async () => {
  photographServer();
  const formerVisit = await aVisit();
  for (let n = 0; n < 3; n++) await formerVisit.open(photograph());
  const album = await aVisit();
  const reports = [];
  album.follow((list) => reports.push(numbersOf(list)));
  assert.equal(album.read(), album.read(), "the album is read once");
  await album.read();
  assert.deepEqual(numbersOf(album.list).toSorted(), [1, 2, 3]);
  assert.equal(reports.length, 1);
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

test("a photograph that the server has forgotten is sent again, by its name", async () => {
  const server = photographServer();
  const album = await aVisit();
  const file = photograph();
  await album.open(file);
  const reloadedAlbum = await aVisit();
  assert.equal(await reloadedAlbum.bringAgain(idOf(1)), true);
  const { method, path, headers, body } = server.questions.at(-1);
  const name = decodeURIComponent(headers["X-Playground-Name"]);
  assert.deepEqual([method, path, name], ["POST", "api/pictures", `photo ${idOf(1)}`]);
  assert.equal(await body.text(), await file.text());
  assert.deepEqual(numbersOf(reloadedAlbum.list), [1], "it is here once");
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

test("a labelled picture is asked for by its number, the first time and again", async () => {
  const server = photographServer();
  const album = await aVisit();
  await album.openLabelled(17);
  assert.equal(choice.now.mine, idOf(0xc1fa));
  await album.bringAgain(idOf(0xc1fa));
  assert.deepEqual(requestsTo(server), ["POST api/labelled?number=17", "POST api/labelled?number=17"]);
});

test("forgetting empties page, browser and server, and shows a sample", async () => {
  const server = photographServer();
  const album = await aVisit();
  await album.open(photograph());
  await album.forget();
  assert.deepEqual([album.list, database.kept(), choice.now.mine, choice.now.sample], [[], [], null, "tabby"]);
  assert.equal(requestsTo(server).at(-1), FORGET_REQUEST);
  assert.equal(await album.bringAgain(idOf(1)), false, "nothing brings it back");
});
