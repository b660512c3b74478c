import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, ownKey, Refusal } from "../../../playground/microscope/shell/http.js";
import { aServer, json, paths } from "./browser.mjs";

test("each request says the person's key, and nothing else where nothing is given", async () => {
  const server = aServer(() => json({ ok: true }));
  assert.deepEqual(await (await ask("api/trace?sample=tabby")).json(), { ok: true });
  const [{ path, method, headers, body }] = server.questions;
  assert.deepEqual([path, method, body], ["api/trace?sample=tabby", "GET", undefined]);
  assert.deepEqual(headers, { "X-Playground-Key": ownKey() });
  assert.ok(!path.includes(ownKey()), "the key never stands in an address");
});

test("a wait that a proxy ended goes on, with the same request", async (t) => {
  const answers = [new Response("", { status: 504 }), json({ done: true })];
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const server = aServer(() => {
    now += 100_000;
    return answers.shift();
  });
  const answer = await ask("api/pictures", { method: "POST", body: "bytes", headers: { "X-Playground-Name": "cat" } });
  assert.deepEqual(await answer.json(), { done: true });
  assert.deepEqual(paths(server), ["POST api/pictures", "POST api/pictures"]);
  assert.ok(server.questions.every(({ body, headers }) => body === "bytes" && headers["X-Playground-Name"] === "cat"));
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

test("a refusal without a sentence says its status", async () => {
  for (const answer of [new Response("<h1>Bad Gateway</h1>", { status: 502 }), json({}, 502)]) {
    aServer(() => answer);
    await assert.rejects(ask("api/x"), { status: 502, says: "The server answers with 502." });
  }
});
