// Where the story leads: its scene stands in the address, and each scene is a step to which Back leads.

import { createClassBar, drawClassBoard, keepClassBoard } from "../classroom/bar.js";
import { isBehindHash, openFace, pageNow, setPage, setView, viewNow, writeAddress } from "./address.js";
import { choice, firstSample } from "./choice.js";
import { lecturersClass } from "./classway.js";
import { pageSays } from "./early.js";
import { addressOf } from "./http.js";
import { visit } from "./visit.js";

// As story/story.js wants it.
export const storyWay = ({ page }) => ({
  at: () => (pageNow().name === "microscope" ? Number(pageNow().story) || 0 : 0),

  go(n) {
    setPage({ story: n ? String(n) : null });
    setView(viewNow());
    writeAddress({ step: true });
    page.schedule();
  },

  lesson(name) {
    const { title } = pageSays().pages.find((one) => one.name === name);
    const words = new URLSearchParams(choice.words());
    const href = isBehindHash() ? `#page=${name}&${words}` : addressOf(`${name}?${words}`);
    return { title, href, go: () => visit.leave(name) };
  },

  place: () => choice.words(),

  cat: () => visit.go(new URLSearchParams({ sample: firstSample().name, story: "1" }).toString()),

  lab() {
    setPage({ story: null });
    openFace().set("lab");
  },
});

// A class that guesses together, as story/story.js wants it. A folder of files has nobody who counts.
export function classOfStory(language) {
  const command = isBehindHash() ? (pageSays().app?.command ?? "python -m playground") : "";
  const klass = lecturersClass({ language, command });
  return {
    ...klass,
    headIn: (place) => createClassBar(place, klass),
    board: drawClassBoard,
    keepsBoard: keepClassBoard,
  };
}

// The way into it from the menu.
export function beginStory() {
  openFace().set("see");
  if (pageNow().name === "microscope") visit.go(new URLSearchParams({ ...choice.words(), story: "1" }).toString());
  else visit.leave("microscope", { ...choice.words(), story: "1" }, { wholly: true });
}
