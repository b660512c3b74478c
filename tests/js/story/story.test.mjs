import assert from "node:assert/strict";
import { test } from "node:test";
import { unpack } from "../../../playground/microscope/core/core.js";
import { patchDistance } from "../../../playground/microscope/core/grid.js";
import { placesOf } from "../../../playground/microscope/core/places.js";
import {
  marksOf,
  neighbourOf,
  placeIn,
  QUESTION_COUNT,
  SCENE_COUNT,
} from "../../../playground/microscope/story/questions.js";
import {
  factsOfStory,
  heardAfter,
  recordForClass,
  rowOfPatch,
  sceneAt,
  sharesAt,
  verdictOn,
} from "../../../playground/microscope/story/scenes.js";
import { STORY_WORDS, storyWords } from "../../../playground/microscope/story/words.js";
import { packOf } from "../packs.mjs";

const pack = unpack(packOf({ held: [0, 1, 2, 3], grid: [6, 8], patch: 16, size: [96, 128] }));
const POSITION = { layer: 2, head: 1, patch: 19 };
const facts = factsOfStory(pack, POSITION, 16);
const assertNear = (a, b) => assert.ok(Math.abs(a - b) < 1e-5, `${a} is not ${b}`);

test("the partner is the brightest patch of the largest place that is not the asking patch's own", () => {
  const row = rowOfPatch(pack, POSITION.layer, POSITION.head, POSITION.patch);
  const place = placesOf(row, 1, pack).find(
    ({ patches, brightest }) =>
      !patches.includes(POSITION.patch) && patchDistance(POSITION.patch, brightest, pack.columns) > 1,
  );
  assert.equal(facts.partner, place.brightest);
  assertNear(facts.share, row[1 + place.brightest]);
});

test("heads are counted over all that there are", () => {
  assert.equal(facts.heads.length, pack.heads);
  const ownHead = facts.heads.find(({ head }) => head === POSITION.head);
  assertNear(ownHead.row[1 + facts.partner], facts.share);
});

test("stacked convolutions hear 9, 25, 49, 81 patches, and none beyond the edge", () => {
  const patchCounts = (patch) => [1, 2, 3, 4].map((layers) => heardAfter(layers, patch, { rows: 9, columns: 10 }));
  assert.deepEqual(patchCounts(44), [9, 25, 49, 81]);
  assert.deepEqual(patchCounts(0), [4, 9, 16, 25]);
});

test("twice the side is about sixteen times as many scores", () => {
  assertNear(facts.scoreGrowth, ((4 * 48 + 1) / 49) ** 2);
});

test("without its layer the story has no facts; it needs no other", () => {
  assert.equal(factsOfStory(unpack(packOf({ held: [0, 1], grid: [6, 8] })), POSITION, 16), null);
  const factsOfOneLayer = factsOfStory(unpack(packOf({ held: [2], grid: [6, 8] })), POSITION, 16);
  assert.deepEqual(sceneAt(11, factsOfOneLayer, "en"), sceneAt(11, facts, "en"));
});

test("no hole is left open in any scene, in any language", () => {
  for (const language of Object.keys(STORY_WORDS))
    for (let n = 1; n <= SCENE_COUNT; n++)
      for (const side of [16, null]) {
        const scene = sceneAt(n, { ...facts, side }, language);
        const sceneText = JSON.stringify([scene.title, scene.text, scene.question]);
        assert.ok(!/\{\w+\}|undefined|NaN|null ×/.test(sceneText), sceneText);
      }
});

test("every guess can reach what is true, and its truth is right", () => {
  for (let n = 1; n <= SCENE_COUNT; n++) {
    const { question } = sceneAt(n, facts, "en");
    if (!question) continue;
    const { guess, truth } = question;
    if (guess.kind === "Number") assert.ok(guess.low <= truth && truth <= guess.high, `scene ${n}`);
    if (guess.kind === "Choice")
      assert.ok(
        guess.options.some(([key]) => key === truth),
        `scene ${n}`,
      );
    assert.ok(verdictOn(question, truth, "en").right, `scene ${n}`);
  }
});

test("volume zero makes shares even, the model's own gives its row, and a huge one clips", () => {
  const evenShares = sharesAt(facts, 0, pack.tokens);
  for (const share of evenShares.shares) assertNear(share, 1 / pack.tokens);
  assert.ok(!evenShares.clips);
  assert.deepEqual(sharesAt(facts, pack.scale, 3).shares, [...facts.row].sort((a, b) => b - a).slice(0, 3));
  assert.ok(sharesAt(facts, 1e6, 3).clips);
});

test("of the three books one fits best, one is found easily and holds little, one fits least", () => {
  const [bestBook, thinBook, worstBook] = facts.books;
  assert.equal(bestBook.token, pack.prefixCount + facts.partner);
  assertNear(bestBook.score, facts.pair.score);
  const topTokens = [...facts.row.keys()].sort((a, b) => facts.row[b] - facts.row[a]).slice(0, 5);
  assert.ok(topTokens.includes(thinBook.token) && thinBook.token !== bestBook.token);
  for (const token of topTokens.filter((item) => item !== bestBook.token))
    assert.ok(thinBook.length <= facts.contributions.find((item) => item.token === token).length);
  assertNear(worstBook.share, Math.min(...facts.row));
});

test("the strips of scene 5 are named in the reader's language", () => {
  const namesOf = (language) => {
    const { query, key } = sceneAt(5, facts, language).figure.words;
    return [query, key];
  };
  assert.deepEqual(namesOf("zh"), ["查询", "键"]);
  assert.deepEqual(namesOf("es"), ["consulta", "clave"]);
});

test("a wrong number says what is true", () => {
  const asked = (near) => ({ guess: { kind: "Number", low: 0, high: 100, step: 1, unit: " %", near }, truth: 88 });
  assert.equal(verdictOn(asked(0), 12, "en").words, storyWords("en", "itIs", { truth: "88 %" }));
  const closeVerdict = { right: true, words: storyWords("en", "close", { truth: "88 %" }) };
  assert.deepEqual(verdictOn(asked(5), 83, "en"), closeVerdict);
  assert.ok(!verdictOn(asked(5), 82, "en").right);
});

test("a part that the sample names is called by its name", () => {
  const partAt = (patch) => ({
    kind: "eye",
    box: [Math.floor(patch / 8) / 6, (patch % 8) / 8, (Math.floor(patch / 8) + 1) / 6, ((patch % 8) + 1) / 8],
  });
  const { question } = sceneAt(1, facts, "en", [partAt(facts.patch), partAt(facts.partner)]);
  assert.match(question.says, /the other eye/);
  assert.doesNotMatch(sceneAt(1, facts, "en").question.says, /eye/);
  assert.equal(verdictOn(question, facts.partner, "en").words.split(":")[0], "You found it");
});

test("in the first layer nobody has rewritten the token that asks, and it has heard of nothing", () => {
  const firstFacts = factsOfStory(pack, { ...POSITION, layer: 0 }, 16);
  assert.match(sceneAt(5, firstFacts, "en").text, /no layer has rewritten yet/);
  assert.match(sceneAt(5, facts, "en").text, /the layers before have rewritten/);
  assert.match(sceneAt(11, firstFacts, "en").text, /has looked at nothing before/);
  assert.match(sceneAt(11, facts, "en").text, /has looked at the whole picture/);
});

test("scenes 1, 7 and 10 sum over the box of the part that they name", () => {
  const part = { kind: "eye", box: [0, 0.5, 1, 1] }; // the right half: columns 4 to 7
  const asked = { kind: "eye", box: [2 / 6, 3 / 8, 3 / 6, 4 / 8] }; // the asking patch alone
  const inPart = (patch) => patch % 8 >= 4;
  const partner = facts.heads.map(({ best }) => best).find(inPart) ?? 20;
  const named = { ...facts, partner };
  let sum = 0;
  for (let patch = 0; patch < 48; patch++) if (inPart(patch)) sum += facts.row[1 + patch];
  const share = `${Math.round(100 * sum)}\u00a0%`;
  assert.match(sceneAt(1, named, "en", [part, asked]).question.says, new RegExp(`gives ${share} to the other eye`));
  assert.match(sceneAt(7, named, "en", [part, asked]).text, new RegExp(`gives ${share} to the other eye`));
  const { question } = sceneAt(10, named, "en", [part, asked]);
  assert.match(question.asks, /go to the other eye/);
  assert.equal(question.truth, facts.heads.filter(({ best }) => inPart(best)).length);
});

test("a score, a distance and an answer of scene 6 are of the framed square, not of the thing around it", () => {
  const part = { kind: "eye", box: [0, 0, 1, 1] };
  for (const n of [3, 6]) {
    const { question } = sceneAt(n, facts, "en", [part]);
    assert.doesNotMatch(JSON.stringify(question), /eye/);
    assert.match(JSON.stringify(question), /the framed/);
  }
});

test("scene 6 lists both squares as they follow in the picture, so that no answer is always the first", () => {
  const firstOf = (partner) => sceneAt(6, { ...facts, partner }, "en").question.guess.options[0][0];
  assert.equal(firstOf(facts.besidePatch - 1), "partner");
  assert.equal(firstOf(facts.besidePatch + 1), "beside");
});

test("scene 8 sums the positive and the negative products of scene 6, and says what is left", () => {
  const products = [...facts.pair.products];
  const sumOf = (sign) => products.filter((x) => sign * x > 0).reduce((sum, x) => sum + x, 0);
  const [gained, lost] = [sumOf(1), sumOf(-1)];
  const written = (x) => x.toFixed(1).replace("-", "−");
  const left = Math.round((100 * Math.abs(gained + lost)) / (gained - lost));
  const { text } = sceneAt(8, facts, "en");
  assert.ok(text.includes(`Ours: ${written(gained)} and ${written(lost)}; ${left}\u00a0% is left`), text);
});

const LATE = {
  inside: {
    made: { number: 2, count: 4, sum: 1.5, largest: [{ at: 1, x: 2, w: 0.5, product: 1 }] },
    seen: { places: Array.from({ length: pack.tokens }, (_, token) => [token, 1]), held: 0.4 },
    move: {
      byHead: 0.5,
      byAttention: 1.25,
      angle: 31.4,
      nearer: { token: pack.prefixCount + 5, before: 0.1, after: 0.4 },
    },
  },
  ablated: { zero: 0.2, mean: 0.1 },
  sinks: [
    { layer: 0, head: 1, token: 0, kind: "nothing" },
    { layer: 1, head: 2, token: 9, kind: "one thing" },
    { layer: 3, head: 0, token: 9, kind: "neither" },
  ],
  answer: {
    ...{ isOwn: false, model: "Ours", rows: 3, columns: 4, label: "a face", square: 7, share: 0.1 },
    ...{ before: 0.6, after: 0.52, withoutAll: 0.2 },
  },
};

test("what comes late is told with its numbers, in every language, and without it no hole is left", () => {
  const told = {
    5: "1\\.50",
    9: "40\u00a0%",
    10: "125\u00a0%",
    11: "31°",
    12: "60\\.0\u00a0%",
    13: "(?=.*\\b3\\b)(?=.*\\b12\\b)",
    14: "10\u00a0%",
  };
  for (const language of Object.keys(STORY_WORDS))
    for (const [n, number] of Object.entries(told)) {
      const [plain, late] = [facts, { ...facts, ...LATE }].map((each) => sceneAt(n, each, language));
      assert.match(late.text.replaceAll(",", "."), new RegExp(number));
      assert.doesNotMatch(JSON.stringify([plain.text, late.text, late.question]), /\{\w+\}|undefined|NaN/);
    }
});

test("the answer is judged by its points, and the framed square of scene 11 is the one that it names", () => {
  const truthOf = (after) => sceneAt(12, { ...facts, answer: { ...LATE.answer, after } }, "en").question.truth;
  assert.deepEqual([0.52, 0.57, 0.66].map(truthOf), ["falls", "stays", "rises"]);
  assert.equal(sceneAt(11, { ...facts, ...LATE }, "en").marks.at, 5);
  const toToken = { ...LATE.inside, move: { ...LATE.inside.move, nearer: { token: 0, before: 0, after: 1 } } };
  assert.match(sceneAt(11, { ...facts, inside: toToken }, "en").text, /alike to cls/);
});

test("shares of scene 7 are e to the power of a score by the sum of all", () => {
  const { powers } = sceneAt(7, facts, "en").figure;
  const all = powers.at(-1).power;
  for (const { power, share } of powers) assertNear(power / all, share);
  const scores = [...facts.row.keys()].map((token) => Math.log(facts.row[token] * all));
  assertNear(scores.reduce((sum, score) => sum + Math.exp(score), 0) / all, 1);
});

test("the ten questions are the same before and after, the right answer stands at no fixed place", () => {
  const asked = (when) =>
    Array.from({ length: QUESTION_COUNT }, (_, i) => sceneAt(`${when}${i + 1}`, facts, "en").question);
  const [before, after] = [asked("b"), asked("a")];
  const texts = (questions) => questions.map(({ asks }) => asks);
  assert.deepEqual(texts(before).toSorted(), texts(after).toSorted());
  assert.notDeepEqual(texts(before), texts(after));
  for (const questions of [before, after]) {
    const places = questions.map(({ guess, truth }) => guess.options.findIndex(([key]) => key === truth));
    assert.deepEqual([...new Set(places)].toSorted(), [0, 1, 2]);
  }
});

test("a place that the story does not have is none", () => {
  assert.deepEqual(["1", "14", "b10", "a1"].map(placeIn), [1, 14, "b10", "a1"]);
  assert.deepEqual(
    [null, "", "0", "-1", "15", "99999", "NaN", "a0", "a11", "toString"].map(placeIn),
    Array(10).fill(0),
  );
});

test("the questions stand before scene 1 and after the last, and marks count them", () => {
  const walk = [];
  for (let at = "b1"; at; at = neighbourOf(at, 1, SCENE_COUNT)) walk.push(at);
  assert.equal(walk.length, SCENE_COUNT + 2 * QUESTION_COUNT);
  for (const at of walk.slice(1))
    assert.equal(neighbourOf(neighbourOf(at, -1, SCENE_COUNT) || "b10", 1, SCENE_COUNT), at);
  const answers = Object.fromEntries(
    Array.from({ length: QUESTION_COUNT }, (_, i) => [`a${i + 1}`, i % 2 ? "a" : "b"]),
  );
  assert.deepEqual(marksOf(answers), { before: null, after: 5 });
});

test("a class is asked the ten questions in every language", () => {
  const { scene, question, told } = recordForClass("b2", SCENE_COUNT, facts, [], "picture");
  assert.equal(scene.name, "b2");
  for (const language of Object.keys(STORY_WORDS)) assert.ok(question.asks[language] && scene.title[language]);
  assert.equal(told.truth, "a");
});
