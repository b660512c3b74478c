import assert from "node:assert/strict";
import { test } from "node:test";
import { histogram } from "../../../playground/microscope/classroom/words.js";
import { unpack } from "../../../playground/microscope/core/core.js";
import { heatDigits } from "../../../playground/microscope/core/grades.js";
import { SCENE_COUNT } from "../../../playground/microscope/story/questions.js";
import { ASKING_SCENES, factsOfStory, recordForClass, sceneAt } from "../../../playground/microscope/story/scenes.js";
import { packOf } from "../packs.mjs";

const pack = unpack(packOf({ held: [0, 1, 2, 3], grid: [6, 8], patch: 16, size: [96, 128] }));
const facts = factsOfStory(pack, { layer: 2, head: 1, patch: 19 }, 16);

test("guesses on a fine or a logarithmic scale are counted from its low end to its high end, each once", () => {
  for (const [scale, guesses] of [
    [{ low: 0, high: 12 }, [0, 5, 12]],
    [{ low: -1, high: 1, step: 0.01 }, [-1, -0.37, 0, 0.29, 1]],
    [{ low: 0.0001, high: 1, step: 0.0001, log: true }, [0.0001, 0.0003, 0.02, 0.4, 1]],
    [{ low: 1e5, high: 1e11, step: 1, log: true }, [1e5, 3e7, 1e11]],
  ]) {
    const bars = histogram(Object.fromEntries(guesses.map((guess) => [guess, 1])), scale);
    assert.equal(
      bars.reduce((total, { count }) => total + count, 0),
      guesses.length,
    );
    assert.deepEqual([bars[0].count, bars.at(-1).count], [1, 1], JSON.stringify(scale));
    for (const guess of guesses) {
      const bar = histogram({ [guess]: 1 }, scale).find(({ count }) => count);
      const margin = 1e-9 * Math.max(1, Math.abs(guess)); // of rounding
      assert.ok(bar.from <= guess + margin && guess <= bar.to + margin, `${guess}: ${JSON.stringify(bar)}`);
    }
  }
});

test("a class is asked the scene's question in all languages, and the question never tells the answer", () => {
  for (let n = 1; n <= SCENE_COUNT; n++) {
    const { question: asked } = sceneAt(n, facts, "en");
    const { scene, question, told: reveal } = recordForClass(n, SCENE_COUNT, facts, [], "this picture");
    assert.deepEqual([scene.n, scene.name], [n, String(n)]);
    assert.equal(scene.title.de, sceneAt(n, facts, "de").title);
    assert.equal(question === null, asked === null);
    assert.equal(
      ASKING_SCENES.includes(n),
      asked !== null || n === 12,
      `scene ${n}, the twelfth once it has an answer`,
    );
    if (!asked) continue;
    const { guess } = question;
    assert.equal(reveal.truth, asked.truth);
    assert.equal(reveal.after.en, asked.says);
    assert.equal(reveal.heat?.length, guess.kind === "Place" ? 48 : undefined);
    assert.ok(!("truth" in question) && !JSON.stringify(question).includes(asked.says), `scene ${n}`);
    for (const [value, words] of guess.options ?? []) assert.ok(typeof value === "string" && words.en && words.de);
    if (guess.kind === "Place") assert.deepEqual([guess.rows, guess.columns, guess.mark], [6, 8, 19]);
  }
});

test("the heat has a digit for each patch, and its brightest is the patch that gets most", () => {
  const digits = [...heatDigits(facts.row.subarray(1))].map((digit) => Number.parseInt(digit, 16));
  assert.equal(digits[facts.best], 15);
  for (const [patch, digit] of digits.entries())
    assert.equal(digit, Math.round((15 * facts.row[1 + patch]) / facts.row[1 + facts.best]));
});
