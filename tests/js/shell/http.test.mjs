import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { pathToFileURL } from "node:url";

import { ask, ownKey, Refusal } from "../../../playground/microscope/shell/http.js";
import { MICROSCOPE } from "../support.mjs";
import { aServer, json, paths, waitAnswer } from "./browser.mjs";

mock.timers.enable({ apis: ["setTimeout"] });
const nextTask = () => new Promise(setImmediate);
const passTime = async (ms) => {
  await nextTask();
  mock.timers.tick(ms);
  await nextTask();
};

test("each request says the person's key, and nothing else where nothing is given", async () => {
  const server = aServer(() => json({ ok: true }));
  assert.deepEqual(await (await ask("api/trace?sample=tabby")).json(), { ok: true });
  const [{ path, method, headers, body }] = server.questions;
  assert.deepEqual([path, method, body], ["api/trace?sample=tabby", "GET", undefined]);
  assert.deepEqual(headers, { "X-Playground-Key": ownKey() });
  assert.ok(!path.includes(ownKey()), "the key never stands in an address");
});

test("who has to wait asks again with the ticket, when told to, and hears how many come first", async () => {
  const answers = [waitAnswer(2, "t1"), waitAnswer(1, "t2"), json({ done: true })];
  const server = aServer(() => answers.shift());
  const calls = [];
  const options = { method: "POST", body: "bytes", headers: { "X-Playground-Name": "cat" } };
  const promise = ask("api/pictures", { ...options, onWait: (peopleBefore) => calls.push(peopleBefore) });
  await passTime(0);
  await passTime(399);
  assert.deepEqual([server.questions.length, calls], [1, [2]]);
  await passTime(1);
  assert.deepEqual([server.questions.length, calls], [2, [2, 1]]);
  await passTime(400);
  assert.deepEqual(await (await promise).json(), { done: true });
  assert.deepEqual(calls, [2, 1, 0], "and that the wait is over");
  const tickets = server.questions.map(({ headers }) => headers["X-Playground-Ticket"]);
  assert.deepEqual(tickets, [undefined, "t1", "t2"]);
  const bodies = server.questions.map(({ body }) => body);
  assert.deepEqual(bodies, ["bytes", undefined, undefined], "the file is sent once");
  assert.deepEqual([...new Set(paths(server))], ["POST api/pictures"]);
  assert.ok(server.questions.every(({ headers }) => headers["X-Playground-Key"] === ownKey()));
  assert.ok(server.questions.every(({ headers }) => headers["X-Playground-Name"] === "cat"));
});

test("who leaves while they wait asks no more", async () => {
  const server = aServer(() => waitAnswer(1, "t"));
  const controller = new AbortController();
  const promise = ask("api/x", { signal: controller.signal });
  const rejection = assert.rejects(promise, { name: "AbortError" });
  await passTime(0);
  controller.abort();
  await rejection;
  await passTime(10_000);
  assert.equal(server.questions.length, 1);
});

test("a server that does not answer is told in a sentence, with no status", async () => {
  aServer(() => Promise.reject(new TypeError("Failed to fetch")));
  await assert.rejects(ask("api/x"), (error) => {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.status, error.says], [0, "The server does not answer; the page tries again."]);
    return true;
  });
});

test("a refusal has the server's sentence, its status and all that it says", async () => {
  const body = { says: "There is no such picture.", forgotten: "ab" };
  aServer(() => json(body, 404));
  await assert.rejects(ask("api/x"), { name: "Refusal", status: 404, says: body.says, message: body.says, body });
});

test("a refusal ends a wait", async () => {
  const answers = [waitAnswer(3, "t"), json({ says: "no" }, 400)];
  aServer(() => answers.shift());
  const calls = [];
  const rejection = assert.rejects(ask("api/x", { onWait: (peopleBefore) => calls.push(peopleBefore) }), {
    status: 400,
  });
  await passTime(0);
  await passTime(400);
  await rejection;
  assert.deepEqual(calls, [3, 0]);
});

test("addresses begin at the root of the app, which may lie in a folder", async () => {
  const root = mkdtempSync(join(tmpdir(), "served-"));
  const shell = join(root, "below", "api", "app", "digest", "shell");
  mkdirSync(shell, { recursive: true });
  for (const name of ["http.js", "notice.js"]) cpSync(join(MICROSCOPE, "shell", name), join(shell, name));
  writeFileSync(join(shell, "package.json"), '{"type": "module"}');
  const { addressOf } = await import(pathToFileURL(join(shell, "http.js")));
  const appRoot = pathToFileURL(join(root, "below")).href;
  assert.equal(addressOf("api/trace?a=b"), `${appRoot}/api/trace?a=b`);
  assert.equal(addressOf("/api/trace"), `${appRoot}/api/trace`);
});
