// Resends a choice until the server confirms it.
//
// Streamlit drops what a component sends while the server is away, and what it sends to a part of the page that a new
// session has not drawn yet. So a choice is kept until a run of the page has ended after it. It is sent again once a
// page that lost its server has been drawn by the next one, and also when nothing at all has come back for a while.

import { CONNECTION, RUN } from "./streamlitparts.js";

const QUIET = 400; // ms without a run: every choice that was sent is answered
const UNHEARD = 5000; // ms without any answer: it was lost
const SETTLED = 2500; // ms without a run: the session is the old one and has nothing new to draw

// say() gives Streamlit's setTriggerValue, which is a new function at every run. answered() is called when nothing
// waits for an answer any more.
export function createSender(say, answered = () => {}) {
  const app = document.querySelector(`[${CONNECTION}]`);
  const held = new Map(); // trigger → the last choice, until it is answered
  let [drawn, timer] = [true, 0];
  const sayAll = () => {
    for (const [what, value] of held) say()(what, value);
  };
  const forget = () => {
    held.clear();
    answered();
  };
  const settle = () => {
    clearTimeout(timer);
    drawn = true;
    sayAll();
  };
  const look = () => {
    clearTimeout(timer);
    if (app.getAttribute(CONNECTION) !== "CONNECTED") drawn = false;
    else if (app.getAttribute(RUN) !== "running")
      timer = drawn ? setTimeout(forget, QUIET) : setTimeout(settle, SETTLED);
  };
  const observer = new MutationObserver(look);
  if (app) observer.observe(app, { attributeFilter: [CONNECTION, RUN] });
  return {
    send(what, value) {
      held.set(what, value);
      if (!drawn) return;
      say()(what, value);
      clearTimeout(timer);
      timer = setTimeout(sayAll, UNHEARD);
    },
    // To be called when something new has come from the server.
    confirm() {
      if (!drawn) return settle();
      clearTimeout(timer);
      forget();
    },
    stop: () => [observer.disconnect(), clearTimeout(timer)],
  };
}
