import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { goTo, withoutStorage } from "./browser.mjs";

const STORAGE_KEY = "attention-playground-key";
const PATTERN = /^[A-Za-z0-9_-]{22,64}$/;

let visits = 0;
const aVisit = () => import(`../../../playground/microscope/shell/http.js?visit=${visits++}`);

beforeEach(() => {
  goTo("/microscope?sample=tabby");
  localStorage.clear();
  sessionStorage.clear();
});

test("a key is made once, is kept by the browser, and found again at the next visit", async () => {
  const visit = await aVisit();
  const key = visit.ownKey();
  assert.match(key, PATTERN);
  assert.equal(visit.ownKey(), key);
  assert.deepEqual([localStorage.getItem(STORAGE_KEY), sessionStorage.getItem(STORAGE_KEY)], [key, null]);
  assert.equal((await aVisit()).ownKey(), key);
});

test("a class link keeps its key only as long as the tab, and leaves the browser's own alone", async () => {
  const albumKey = (await aVisit()).ownKey();
  goTo("/microscope?class=yes");
  const visit = await aVisit();
  assert.equal(visit.onlyThisTab(), true);
  const key = visit.ownKey();
  assert.notEqual(key, albumKey);
  assert.deepEqual([localStorage.getItem(STORAGE_KEY), sessionStorage.getItem(STORAGE_KEY)], [albumKey, key]);
});

test("only the address of a class link keeps to its tab", async () => {
  const { onlyThisTab } = await aVisit();
  for (const [address, isExpected] of [
    ["/", false],
    ["/?class=no", false],
    ["/?class=", false],
    ["/?class=yes", true],
    ["/by_hand?model=x&class=yes", true],
  ]) {
    goTo(address);
    assert.equal(onlyThisTab(), isExpected, address);
  }
});

test("where storage is forbidden the key lasts as long as the page", async () => {
  await withoutStorage(async () => {
    const visit = await aVisit();
    const key = visit.ownKey();
    assert.match(key, PATTERN);
    assert.equal(visit.ownKey(), key);
  });
});
