// A lesson's page where there is no server: what it is, and how to get the app that has it.

import { sayMath } from "../drawing/dom.js";
import { pageSays } from "./pagesays.js";

export function showLesson(box, { title, about }, { go }) {
  const [heading, what, how] = ["h1", "p", "p"].map((tag) => document.createElement(tag));
  sayMath(heading, title);
  what.textContent = about ?? "";
  const typed = document.createElement("code");
  typed.textContent = pageSays().app.command;
  how.append("Python computes its numbers, and this page has none. The app has this lesson: ", typed);
  how.append(` ${pageSays().app.where}.`);
  const back = document.createElement("button");
  Object.assign(back, { type: "button", className: "wide", textContent: "Back to the microscope" });
  back.addEventListener("click", () => go("microscope"));
  box.replaceChildren(heading, what, how, back);
}
