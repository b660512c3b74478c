// Ten questions with the same answers before and after the story, and a person's marks. A question stands in the place
// of a scene: "b3" is the third before the story, "a3" the third after it. No DOM.

export const SCENE_COUNT = 14;
export const QUESTION_COUNT = 10;

// The questions' numbers in the words, as they follow after the story: in another order, which nobody remembers.
const ORDER_AFTER = [4, 8, 1, 10, 6, 3, 9, 2, 7, 5];
// The scenes that show what each question asks for.
const TOLD_IN = ["2, 4", "3", "4", "5, 9", "7", "8", "9", "9, 14", "12", "11"];
const RIGHT = "a"; // the first option in the words; see optionsOf
const UNSURE = "unsure";

export const isQuestion = (at) => /^[ab]([1-9]|10)$/.test(String(at));
export const isBefore = (at) => /^b\d+$/.test(String(at));
const isAfter = (at) => String(at)[0] === "a";
// The place in the story that an address names; 0 if there is none.
export const placeIn = (text) => (isQuestion(text) ? text : text > 0 && text <= SCENE_COUNT ? Math.floor(text) : 0);
const turnOf = (at) => Number(String(at).slice(1));
const numberOf = (at) => (isAfter(at) ? ORDER_AFTER[turnOf(at) - 1] : turnOf(at));

// The place before or after this one; 0 if there is none. `scenes`: the number of scenes.
export function neighbourOf(at, step, scenes) {
  if (!isQuestion(at)) {
    if (at === scenes && step > 0) return "a1";
    return at + step;
  }
  const place = turnOf(at) + step;
  if (isAfter(at)) return place < 1 ? scenes : place > QUESTION_COUNT ? 0 : `a${place}`;
  return place > QUESTION_COUNT ? 1 : place < 1 ? 0 : `b${place}`;
}

// The scene of a question, as sceneAt gives one; say(key, values): words.
export function questionScene(at, say) {
  const number = numberOf(at);
  const title = say(isAfter(at) ? "questionAfter" : "questionBefore", { n: turnOf(at), count: QUESTION_COUNT });
  return {
    title,
    text: "",
    question: {
      asks: say(`question${number}`),
      guess: { kind: "Choice", options: optionsOf(number, isAfter(at), say) },
      truth: RIGHT,
      says: say(`because${number}`, { scenes: TOLD_IN[number - 1] }),
    },
    figure: null,
    view: {},
    marks: { partner: true },
  };
}

// The questions in the form of the quiz of playground/lessons/teaching.py, as they stand before or after the story.
export const questionsAsQuiz = (when, say) =>
  Array.from({ length: QUESTION_COUNT }, (_, n) => {
    const { asks, guess, says } = questionScene(`${when}${n + 1}`, say).question;
    const keys = guess.options.map(([key]) => key);
    return { asks, options: guess.options.map(([, words]) => words), right: keys.indexOf(RIGHT), why: says };
  });

// [key, words] of each answer: the right one stands at another place in each question, and after the story.
function optionsOf(number, isLater, say) {
  const options = ["a", "b", "c"].map((key) => [key, say(`option${number}${key}`)]);
  const first = (number * 2 + (isLater ? 1 : 0)) % options.length;
  return [...options.slice(first), ...options.slice(0, first), [UNSURE, say("unsure")]];
}

// How many of the questions before and after the story are answered rightly; null where not all are answered.
export function marksOf(answers) {
  const rightIn = (when) => {
    const given = Array.from({ length: QUESTION_COUNT }, (_, i) => answers[`${when}${i + 1}`]);
    return given.includes(undefined) ? null : given.filter((answer) => answer === RIGHT).length;
  };
  return { before: rightIn("b"), after: rightIn("a") };
}
