// A choice outlives the connection it was made on. Streamlit drops what is said while the server is away, and what is said
// to a part of the page that a new session has not drawn yet. So a choice is kept until a run has ended after it; and who
// comes back to a server says it (again) once that has drawn the page; so does who has not been heard at all.

const CONNECTION = "data-test-connection-state";
const RUN = "data-test-script-state";
const QUIET = 400; // ms without a run: what was said is answered
const UNHEARD = 5000; // ms in which no run began and nothing came
const SETTLED = 2500; // ms without a run: a session that was only cut off has nothing new to draw

// say() gives Streamlit's setTriggerValue, which is a new one at each of its calls.
export function holdChoices(say) {
  const app = document.querySelector(`[${CONNECTION}]`);
  const held = new Map(); // what was chosen last, until it is answered
  let [drawn, timer] = [true, 0];
  const sayAll = () => {
    for (const [what, value] of held) say()(what, value);
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
      timer = drawn ? setTimeout(() => held.clear(), QUIET) : setTimeout(settle, SETTLED);
  };
  const observer = new MutationObserver(look);
  if (app) observer.observe(app, { attributeFilter: [CONNECTION, RUN] });
  return {
    choose(what, value) {
      held.set(what, value);
      if (!drawn) return;
      say()(what, value);
      clearTimeout(timer);
      timer = setTimeout(sayAll, UNHEARD);
    },
    // Call it when something new has come from the server.
    drawn() {
      if (!drawn) return settle();
      clearTimeout(timer);
      held.clear();
    },
    stop: () => [observer.disconnect(), clearTimeout(timer)],
  };
}
