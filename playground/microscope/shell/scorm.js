// Tells a learning platform which exercises are done, and the marks of the ten questions, by SCORM 1.2. The platform's
// object API lies in a window around this page; where none is, nothing happens.

import { EXERCISES_KEY, forgetGuesses, keepGuess, readGuesses } from "../core/guesses.js";
import { marksOf, QUESTION_COUNT } from "../story/questions.js";
import { answersKept, keepAnswers } from "./storyway.js";

const MOST_WINDOWS = 20; // an opener may be a window in its own frame

function apiAround(/** @type {any} */ start) {
  try {
    for (let at = start, n = 0; at && n < MOST_WINDOWS; n++) {
      if (at.API) return at.API;
      at = at === at.parent ? at.opener : at.parent;
    }
  } catch {
    // a window of another site
  }
  return null;
}

// `exercises`: the ids of all exercises
export function reportToPlatform(exercises) {
  const api = apiAround(window);
  if (String(api?.LMSInitialize("")) !== "true") return;
  const set = (name, value) => api.LMSSetValue(`cmi.${name}`, String(value));
  takeUp(api.LMSGetValue("cmi.suspend_data"));
  const report = () => {
    const done = exercises.filter((id) => readGuesses(localStorage, EXERCISES_KEY)[id]);
    const answers = answersKept();
    set("suspend_data", JSON.stringify({ done, answers }));
    set("core.exit", "suspend"); // the platform keeps what is noted for the next visit
    set("core.score.min", 0);
    set("core.score.max", 100);
    set("core.score.raw", Math.round((100 * done.length) / exercises.length));
    set("core.lesson_status", done.length === exercises.length ? "completed" : "incomplete");
    const marks = Object.entries(marksOf(answers));
    [...exercises, ...marks.map(([when]) => `ten_questions_${when}`)].forEach((id, n) => {
      const mark = marks[n - exercises.length]?.[1] ?? null;
      set(`objectives.${n}.id`, id);
      if (mark !== null) set(`objectives.${n}.score.raw`, (100 * mark) / QUESTION_COUNT);
      set(`objectives.${n}.status`, mark !== null || done.includes(id) ? "completed" : "not attempted");
    });
    api.LMSCommit("");
  };
  report();
  addEventListener("guess-locked", report);
  addEventListener("pagehide", () => {
    report();
    api.LMSFinish("");
  });
}

// The platform knows who is here; what this browser has kept may be somebody else's, who sat here before.
function takeUp(text) {
  forgetGuesses(localStorage);
  let noted = {};
  try {
    noted = JSON.parse(text) ?? {};
  } catch {
    // the first visit
  }
  for (const id of noted.done ?? []) keepGuess(localStorage, id, true, EXERCISES_KEY);
  keepAnswers(noted.answers ?? {});
}
