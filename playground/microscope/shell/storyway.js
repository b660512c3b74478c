// Connects the story to the address, which contains the number of the scene, so that Back leads to the former scene.
// Below: the lecturer's class.

import { createClassBar, drawClassBoard } from "../classroom/bar.js";
import { classWords, guessMap, refusedWords } from "../classroom/words.js";
import { downloadFile } from "../lens/saving.js";
import { pageTitle } from "../lens/words.js";
import { placeIn } from "../story/questions.js";
import {
  isBehindHash,
  openFace,
  pageAddress,
  pageNow,
  setPage,
  setView,
  viewNow,
  visit,
  writeAddress,
} from "./address.js";
import { choice, firstSample, isTraceFile } from "./choice.js";
import { addressOf, ask, askJson, mayPass, SERVER_RETRY_MS } from "./http.js";
import { keepText, keptText } from "./kept.js";
import { readPageData } from "./pagedata.js";

const ANSWERS = "attention-playground-answers"; // to the ten questions

export function answersKept() {
  try {
    return { ...JSON.parse(keptText(ANSWERS) ?? "{}") };
  } catch {
    return {}; // what is damaged counts as absent
  }
}

export function keepAnswers(answers) {
  keepText(ANSWERS, JSON.stringify(answers));
  dispatchEvent(new CustomEvent("guess-locked"));
}

// The argument `way` of the story (story/story.js).
export const storyWay = ({ page }) => ({
  at() {
    const { name, story } = pageNow();
    if (name !== "microscope" || isTraceFile(choice.now.mine)) return 0; // a file tells neither pixels nor training
    return placeIn(story);
  },
  answers: answersKept,
  keepAnswers,

  go(n) {
    setPage({ story: n ? String(n) : null });
    setView(viewNow());
    writeAddress({ step: true });
    page.schedule();
  },

  lesson(name) {
    const page = readPageData().pages.find((page) => page.name === name);
    return {
      title: pageTitle(openFace().language, page),
      href: pageAddress(name, choice.words()),
      go: () => visit.leave(name),
    };
  },

  place: () => choice.words(),

  cat: () => visit.go(new URLSearchParams({ sample: firstSample().name, story: "1" }).toString()),

  lab() {
    setPage({ story: null });
    openFace().step("lab");
  },
});

// The argument `klass` of the story (story/story.js). A class needs a server, so a page without one shows the command
// that starts it.
export function classOfStory(language) {
  const command = isBehindHash() ? (readPageData().app?.command ?? "python -m playground") : "";
  const klass = lecturersClass({ language, command });
  return { ...klass, headIn: (place) => createClassBar(place, klass), board: drawClassBoard, guessMap };
}

// Begins the story from the menu.
export function beginStory() {
  openFace().set("see");
  const words = { ...(isTraceFile(choice.now.mine) ? { sample: firstSample().name } : choice.words()), story: "1" };
  if (pageNow().name === "microscope") visit.go(new URLSearchParams(words).toString());
  else visit.leave("microscope", words, { onlyWords: true });
}

// The lecturer's class, at most one in the document: starts the class, stores it for a reload, and polls its state.
// The lecturer's link has the class's code and secret behind the #, which browsers do not send: #lecture=CODE.SECRET;
// #lecture=new starts a class; #lecture=new.8 one whose plan has eight questions.

const CLASS_KEY = "attention-playground-class";
const LECTURE_LINK = /(?:^#|&)lecture=(?:new(?:\.(\d{1,2}))?|([A-Z]{5})\.([\w-]{20,64}))/;
const OWN_PICTURE_PATH = /^api\/pictures\/([0-9a-f]{16})\.jpg$/;
const POLL_PAUSE = 300; // ms between two requests, so that one answer reports many guesses

const classListeners = new Set();
const lecture = {
  code: "",
  secret: "",
  now: null,
  says: "",
  codeShown: true,
  pollRound: 0,
  sentScene: "",
  wantsPicture: false,
};

const tellOfClass = () => {
  for (const listener of classListeners) listener();
};

// Creates the argument `klass` of the story (story/story.js). language(): the language of the texts; command: on a page
// without a server, the command that starts one.
export function lecturersClass({ language, command = "" }) {
  /** @param {string} path @param {Options} [options] */
  const askAsLecturer = (path, { headers, ...options } = {}) =>
    ask(path, { ...options, headers: { ...headers, "X-Playground-Lecturer": lecture.secret } });

  const troubleWords = (error) => (error.says ? refusedWords(language(), error) : String(error));

  async function begin(planned = 0) {
    if (command) return setStatus(`${classWords(language(), "needsApp")} ${command}`);
    try {
      const request = { method: "POST", body: JSON.stringify({ root: addressOf(""), planned }) };
      const { secret, ...state } = await askJson("api/classes", request);
      openClass(state.code, secret, state);
    } catch (error) {
      setStatus(troubleWords(error));
    }
  }

  function openClass(code, secret, state = null) {
    Object.assign(lecture, {
      code,
      secret,
      now: state,
      says: "",
      codeShown: !state?.asked,
      sentScene: "",
      wantsPicture: false,
    });
    keepText(CLASS_KEY, `${code}.${secret}`);
    followClass();
    tellOfClass();
  }

  function closeClass(sentence) {
    lecture.pollRound++;
    Object.assign(lecture, { code: "", secret: "", now: null, sentScene: "", wantsPicture: false });
    keepText(CLASS_KEY, "");
    setStatus(sentence);
  }

  function setStatus(sentence) {
    lecture.says = sentence;
    tellOfClass();
  }

  function takeState(state) {
    if (state.ended) return closeClass(classWords(language(), "over"));
    if (lecture.now && state.count < lecture.now.count) return; // an older answer arrived late
    Object.assign(lecture, { code: state.code, now: state, says: "" });
    keepText(CLASS_KEY, `${lecture.code}.${lecture.secret}`);
    tellOfClass();
  }

  async function followClass() {
    const round = ++lecture.pollRound;
    while (round === lecture.pollRound) {
      try {
        const count = lecture.now?.count ?? "";
        const state = await (await askAsLecturer(`api/classes/${lecture.code}/lecturer?after=${count}`)).json();
        if (round === lecture.pollRound) takeState(state);
        await new Promise((resolve) => setTimeout(resolve, POLL_PAUSE));
      } catch (error) {
        if (round !== lecture.pollRound) return;
        if (!mayPass(error)) return closeClass(troubleWords(error));
        await new Promise((resolve) => setTimeout(resolve, SERVER_RETRY_MS));
      }
    }
  }

  async function act(action, fields = {}) {
    const { code, secret } = lecture;
    try {
      const body = JSON.stringify({ do: action, ...fields });
      const state = await (await askAsLecturer(`api/classes/${code}/lecturer`, { method: "POST", body })).json();
      if (secret === lecture.secret) takeState(state);
    } catch (error) {
      setStatus(troubleWords(error));
    }
  }

  async function save() {
    const { code } = lecture;
    try {
      const answer = await askAsLecturer(`api/classes/${code}/lecturer/counts.csv?language=${language()}`);
      downloadFile(new File([await answer.blob()], `class-${code}.csv`));
    } catch (error) {
      setStatus(troubleWords(error));
    }
  }

  function readLink() {
    const [link, planned, code, secret] = location.hash.match(LECTURE_LINK) ?? [];
    const [keptCode, keptSecret] = (keptText(CLASS_KEY) ?? "").split(".");
    if (link) history.replaceState(history.state, "", location.pathname + location.search); // hides the secret
    if (code) openClass(code, secret);
    else if (link) begin(Number(planned ?? 0));
    else if (keptSecret && !lecture.code && !command) openClass(keptCode, keptSecret);
  }

  readLink();
  return {
    begin,
    act,
    save,
    now: () => lecture.now,
    says: () => lecture.says,
    link: () => `${location.pathname}${location.search}#lecture=${lecture.code}.${lecture.secret}`,
    shownCode: () => lecture.codeShown,
    showCode(isShown) {
      lecture.codeShown = isShown;
      tellOfClass();
    },
    follow(listener) {
      classListeners.add(listener);
      return () => classListeners.delete(listener);
    },
    // Reports the scene for the phones, once.
    go(scene) {
      const text = JSON.stringify([lecture.code, scene]);
      if (!lecture.now || lecture.sentScene === text) return;
      Object.assign(lecture, { sentScene: text, wantsPicture: false });
      act("go", { scene });
    },
    // Whether to ask the lecturer if their own photograph may be sent to the phones.
    wantsPicture: () => lecture.wantsPicture,
    // address: of the picture on view; mayTravel: the lecturer's answer, if it is their own photograph.
    ask({ scene, question }, address, mayTravel) {
      const isPlace = question.guess.kind === "Place";
      const id = isPlace && address.match(OWN_PICTURE_PATH)?.[1];
      lecture.wantsPicture = Boolean(id) && mayTravel === undefined;
      if (id && !mayTravel) return tellOfClass();
      lecture.codeShown = false;
      lecture.sentScene = JSON.stringify([lecture.code, scene]);
      const picture = id ? { mine: id, yes: true } : { picture: address };
      act("ask", { scene, question: { ...question, ...(isPlace && picture) } });
    },
  };
}
