// The learner's page: toolbar, microscope, moments, lessons and Teach in one document. It has two entries:
// site.js, for a folder of plain files, and served.js, for a server.

import {
  addressWords,
  isBehindHash,
  pageAddress,
  pageNow,
  readAddress,
  ready,
  setPage,
  visit,
  writeAddress,
} from "./address.js";
import { choice } from "./choice.js";
import { bringLessonToClass } from "./lessonclass.js";
import { showLesson } from "./lessonpage.js";
import { readPageData } from "./pagedata.js";
import { askAhead, mountStage } from "./stage.js";
import { showTeach } from "./teachpage.js";
import { mountToolbar } from "./toolbarmount.js";
import { mountWall } from "./wall.js";

const FOOT_GAP = 3; // pixels between the microscope and the footer

const partOfPage = (name) => document.getElementById(name);
let leaveRoom = () => {}; // ends what is shown there
let pagesOpened = 0;
let showBar = null;

// host: {toolbar: fields of the toolbar's host, lessonOf(page): see lessonpage.js, follows: whether lessons show the
// chosen picture and model}
export function beginPage(host) {
  openStoryPage();
  showBar = mountToolbar(partOfPage("toolbar").firstElementChild, host.toolbar);
  visit.open = (page, words) => leadTo(page, words, host);
  mountStage(partOfPage("stage").firstElementChild, partOfPage("foot").offsetHeight + FOOT_GAP);
  if (wantedPage() === "microscope") askAhead().catch(() => {}); // the toolbar asks again, and says what is wrong
  showPage(wantedPage(), host);
  window.addEventListener("popstate", () => {
    if (wantedPage() === pageNow().name) return;
    pagesOpened++;
    showPage(wantedPage(), host);
  });
  ready().then(() => choice.follow((_, options) => onChoice(host, options))); // after address.js has written it
}

const lastOfPath = () => location.pathname.split("/").at(-1);

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

function showPage(page, host) {
  const isRoom = page !== "microscope";
  document.body.classList.toggle("on-lesson", isRoom && !host.follows);
  const room = partOfPage("lesson"); // of moments and lessons
  partOfPage("stage").hidden = isRoom;
  room.hidden = !isRoom;
  if (isRoom) visit.live?.stop();
  showBar({ page, arrived: pagesOpened });
  leaveRoom();
  leaveRoom = () => {};
  room.classList.toggle("wall-room", page === "moments");
  if (isRoom) leaveRoom = showRoom(page, host);
}

function showRoom(page, host) {
  const room = partOfPage("lesson");
  const go = (nextPage, words) => leadTo(nextPage, words, host);
  if (page === "moments") return mountWall(room, { link: pageAddress, go });
  const record = readPageData().pages.find(({ name }) => name === page);
  const way = {
    words: Object.fromEntries(new URLSearchParams(addressWords())),
    go,
    link: pageAddress,
    onChoice(settings) {
      setPage({ settings });
      writeAddress();
    },
  };
  if (page === "teach") return showTeach(room, record, way);
  const endClass = host.follows ? bringLessonToClass(room) : () => {};
  const endLesson = showLesson(room, record, host.lessonOf(page), way);
  return () => [endLesson(), endClass()];
}

function leadTo(page, words, host) {
  pagesOpened++;
  history.pushState(null, "", pageAddress(page, words ?? (page === "microscope" ? {} : choice.words())));
  showPage(page, host);
}

function onChoice(host, options) {
  const { name } = pageNow();
  if (name === "microscope") return;
  if (host.follows && name !== "moments") {
    leaveRoom();
    leaveRoom = showRoom(name, host);
  } else if (!options.quietly && !options.instead) leadTo("microscope", choice.words(), host);
}
