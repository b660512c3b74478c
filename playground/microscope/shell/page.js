// The learner's page: toolbar, microscope, moments, lessons and Teach in one document. It has two entries:
// site.js, for a folder of plain files, and served.js, for a server.

import { nextTask } from "../drawing/dom.js";
import { barColours } from "../drawing/light.js";
import {
  addressWords,
  isBehindHash,
  openFace,
  pageAddress,
  pageNow,
  readAddress,
  ready,
  setPage,
  visit,
  writeAddress,
} from "./address.js";
import { choice, firstSample, isTraceFile } from "./choice.js";
import { source } from "./httpsource.js";
import { bringLessonToClass } from "./lessonclass.js";
import { showLesson } from "./lessonpage.js";
import { ownPictures } from "./own.js";
import { readPageData } from "./pagedata.js";
import { mountStage } from "./stage.js";
import { showTeach } from "./teachpage.js";
import { mountToolbar } from "./toolbarmount.js";
import { answerTraceFiles } from "./tracefile.js";
import { mountWall } from "./wall.js";

const PLAYGROUND = "Attention Playground";
const FOOT_GAP = 3; // pixels between the microscope and the footer

const partOfPage = (name) => document.getElementById(name);
let room = null; // what is shown instead of the microscope: {end(), follow(words): for another address, if it can}
let pagesOpened = 0;
let showBar = null;

// host.follows: whether lessons show the chosen picture and model
export async function beginPage(host) {
  openStoryPage();
  await nextTask(); // here and below, a slow phone answers between two parts
  answerTraceFiles(source, async (id) => {
    await ownPictures.read();
    return ownPictures.list.find((entry) => entry.id === id);
  });
  showBar = mountToolbar(partOfPage("toolbar").firstElementChild, host.toolbar);
  visit.open = (page, words) => leadTo(page, words, host);
  showPage(wantedPage(), host); // asks for the samples, while the microscope is made
  window.addEventListener("popstate", () => {
    openStoryPage();
    if (wantedPage() === pageNow().name) return room?.follow?.(wordsOfAddress());
    pagesOpened++;
    showPage(wantedPage(), host);
  });
  followLinks(host);
  for (const part of [barColours, mountMicroscope]) {
    await nextTask();
    part();
  }
  ready().then(() => choice.follow((_, options) => onChoice(host, options))); // after address.js has written it
}

function mountMicroscope() {
  mountStage(partOfPage("stage").firstElementChild, partOfPage("foot").offsetHeight + FOOT_GAP);
}

const lastOfPath = (path = location.pathname) => path.split("/").at(-1);

function wantedPage() {
  const page = isBehindHash() ? readAddress().rest.page : lastOfPath();
  return readPageData().pages.some(({ name }) => name === page) ? page : "microscope";
}

// The story is no page of its own, but has an address like one.
function openStoryPage() {
  const { page, ...words } = Object.fromEntries(new URLSearchParams(addressWords()));
  if ((isBehindHash() ? page : lastOfPath()) === "story")
    history.replaceState(null, "", pageAddress("microscope", { story: "1", ...words }));
}

const wordsOfAddress = () => Object.fromEntries(new URLSearchParams(addressWords()));

function showPage(page, host) {
  const isRoom = page !== "microscope";
  if (isRoom && isTraceFile(wordsOfAddress().mine)) history.replaceState(null, "", pageAddress(page, wordsOfAddress()));
  const { title } = readPageData().pages.find(({ name }) => name === page);
  document.title = isRoom ? `${title} – ${PLAYGROUND}` : PLAYGROUND;
  document.body.classList.toggle("in-room", isRoom && host.follows);
  document.body.classList.toggle("on-lesson", isRoom && !host.follows);
  const place = partOfPage("lesson"); // of moments and lessons
  partOfPage("stage").hidden = isRoom;
  place.hidden = !isRoom;
  showBar({ page, arrived: pagesOpened });
  room?.end();
  place.classList.toggle("wall-room", page === "moments");
  room = isRoom ? showRoom(place, page, host) : null;
}

function showRoom(place, page, host) {
  if (page === "moments") {
    const go = (nextPage, words) => leadTo(nextPage, words, host);
    return { end: mountWall(place, { link: pageAddress, go }) };
  }
  const record = readPageData().pages.find(({ name }) => name === page);
  let lastChange = null;
  const way = {
    words: wordsOfAddress(),
    link: pageAddress,
    // The reader has changed `what`. What is changed several times, as a dial is, is one step back in the history.
    tell(settings, what) {
      setPage({ settings });
      writeAddress({ step: what !== lastChange });
      lastChange = what;
    },
  };
  if (page === "teach") return showTeach(place, record, way);
  const endClass = host.follows ? bringLessonToClass(place, record) : () => {};
  const lesson = showLesson(place, record, host.lessonOf(page), way);
  return { ...lesson, end: () => [lesson.end(), endClass()] };
}

// A link to another page of ours opens it in this document, with the same picture and model unless it names a picture.
function followLinks(host) {
  partOfPage("lesson").addEventListener("click", (event) => {
    const link = /** @type {any[]} */ (event.composedPath()).find(({ href }) => href);
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { origin, pathname, search, hash } = new URL(link.href);
    const { page, ...words } = Object.fromEntries(new URLSearchParams((isBehindHash() ? hash : search).slice(1)));
    const name = (isBehindHash() ? page : lastOfPath(pathname)) || "microscope";
    const isLecture = hash.startsWith("#lecture="); // storyway.js reads it when a page loads
    const isOurs = !isLecture && readPageData().pages.some((one) => one.name === name);
    if (!isOurs || new URL(pageAddress(name, {})).pathname !== pathname || origin !== location.origin) return;
    event.preventDefault();
    leadTo(name, words.sample || words.mine ? words : { ...choice.words(), ...words }, host);
  });
}

function leadTo(page, words, host) {
  pagesOpened++;
  // a saved trace is no picture for lessons
  if (page !== "microscope" && isTraceFile(choice.now.mine))
    choice.set({ sample: firstSample().name, mine: null }, { quietly: true });
  if (words?.story) openFace().set("see"); // the story belongs to See
  history.pushState(null, "", pageAddress(page, words ?? (page === "microscope" ? {} : choice.words())));
  showPage(page, host);
  scrollTo(0, 0);
}

function onChoice(host, options) {
  const { name } = pageNow();
  if (name === "microscope") return;
  if (host.follows && name !== "moments" && !isTraceFile(choice.now.mine)) room.follow?.(wordsOfAddress());
  else if (!options.quietly && !options.instead) leadTo("microscope", choice.words(), host);
}
