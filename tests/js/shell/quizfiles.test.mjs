// The files of questions for a learning platform.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { giftOf, qtiOf } from "../../../playground/microscope/shell/quizfiles.js";
import { QUESTION_COUNT, questionsAsQuiz } from "../../../playground/microscope/story/questions.js";
import { STORY_WORDS, storyWords } from "../../../playground/microscope/story/words.js";
import { python } from "../support.mjs";

const SIGNS = { asks: "{a}:\n b = #c ~ \\d?", options: ['x < y & "z"', "50 % → {1}"], right: 1, why: "e^−∞ = 0: #1" };

// Reads a zip as Python does, checks sums, and prints [{tag, attributes, text, inside}] of each file.
const READER = `
import io, json, sys, zipfile
from xml.etree import ElementTree
def record(e):
    inside = [record(part) for part in e]
    return {"tag": e.tag.split("}")[1], "of": e.attrib, "text": (e.text or "").strip(), "inside": inside}
pack = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert pack.testzip() is None
print(json.dumps({name: record(ElementTree.fromstring(pack.read(name))) for name in pack.namelist()}))
`;

async function unpacked(blob) {
  return JSON.parse(execFileSync(python(), ["-c", READER], { input: Buffer.from(await blob.arrayBuffer()) }));
}

const all = (record, tag) => [
  ...(record.tag === tag ? [record] : []),
  ...record.inside.flatMap((part) => all(part, tag)),
];

// What Moodle's parser does (question/format/gift/format.php): escaped signs are put aside first.
const GIFT = /^::((?:[^\\]|\\.)*?)::\[plain\]((?:[^\\{]|\\.)*)\{((?:[^\\}]|\\.)*)\}$/;
const plain = (text) => text.replace(/\\(.)/g, "$1").trim();

function readGift(text) {
  return text
    .trim()
    .split("\n\n")
    .map((block) => {
      const [, , asks, inside] = block.match(GIFT);
      const [answers, why] = inside.split("####");
      const options = answers.match(/[=~](?:[^\\=~]|\\.)*/g);
      const right = options.findIndex((option) => option[0] === "=");
      return { asks: plain(asks), options: options.map((o) => plain(o.slice(1))), right, why: plain(why) };
    });
}

test("GIFT says every question as it is, also with its own signs in it", () => {
  const [read] = readGift(giftOf("A title: one", [SIGNS]));
  assert.deepEqual(read, { ...SIGNS, asks: SIGNS.asks.replace("\n", " ") });
});

test("QTI has a file for each question, which the manifest and the test name, and marks the right answer", async () => {
  const files = await unpacked(qtiOf("A & B", [SIGNS, { ...SIGNS, right: 0 }], "zh"));
  const names = ["question-01", "question-02"];
  assert.deepEqual(Object.keys(files), ["imsmanifest.xml", "test.xml", ...names.map((name) => `${name}.xml`)]);
  const resources = all(files["imsmanifest.xml"], "resource").map(({ of }) => of.identifier);
  assert.deepEqual(resources, ["test", ...names]);
  assert.deepEqual(
    all(files["test.xml"], "assessmentItemRef").map(({ of }) => of.href),
    names.map((name) => `${name}.xml`),
  );
  for (const [n, right] of [1, 0].entries()) {
    const item = files[`question-0${n + 1}.xml`];
    assert.equal(all(item, "prompt")[0].text, SIGNS.asks);
    const choices = all(item, "simpleChoice");
    assert.deepEqual(
      choices.map(({ text }) => text),
      SIGNS.options,
    );
    assert.equal(all(item, "value")[0].text, choices[right].of.identifier);
    assert.equal(all(item, "modalFeedback")[0].text, SIGNS.why);
  }
});

test("the ten questions are written in every language, before and after the story", () => {
  for (const language of Object.keys(STORY_WORDS)) {
    const say = (key, values) => storyWords(language, key, values);
    const [before, after] = ["b", "a"].map((when) => questionsAsQuiz(when, say));
    assert.deepEqual(readGift(giftOf("ten", before)), before);
    const rightOnes = (questions) => questions.map(({ asks, options, right }) => `${asks} ${options[right]}`).sort();
    assert.deepEqual(rightOnes(before), rightOnes(after));
    assert.equal(before.length, QUESTION_COUNT);
    assert.equal(before[0].options[before[0].right], say("option1a"));
  }
});
