// Tests the notice that the page shows when the connection is lost.

import assert from "node:assert/strict";
import { after, mock, test } from "node:test";

import "./browser.mjs";
import { watchConnection } from "../../../playground/microscope/shell/connection.js";

mock.timers.enable({ apis: ["setTimeout"] });
const app = document.createElement("div");
app.setAttribute("data-test-connection-state", "CONNECTED");
document.body.append(app);
const stop = watchConnection();
after(stop);

const setConnection = async (state) => {
  app.setAttribute("data-test-connection-state", state);
  await new Promise(setImmediate); // lets the connection's watcher run
};
const box = () => document.querySelector(".attention-notice");
const shownText = () => (box()?.hidden === false ? box().querySelector("span").textContent : null);

test("a short break is not worth a word", async () => {
  await setConnection("PINGING_SERVER");
  mock.timers.tick(1900);
  await setConnection("CONNECTED");
  mock.timers.tick(10000);
  assert.equal(shownText(), null);
});

test("a lost connection is told for as long as it is lost", async () => {
  await setConnection("PINGING_SERVER");
  mock.timers.tick(2100);
  assert.match(shownText(), /connection to the server is lost.*picture goes on working/);
  mock.timers.tick(600000);
  await setConnection("CONNECTING");
  assert.match(shownText(), /lost/);
  await setConnection("CONNECTED");
  assert.equal(shownText(), null);
});

test("Streamlit's own dialog is closed, and no other one", async () => {
  const closedDialogs = [];
  const dialog = (words) => {
    const dialog = document.createElement("div");
    dialog.setAttribute("role", "dialog");
    dialog.innerHTML = `<h2>${words}</h2><button aria-label="Close">x</button>`;
    dialog.querySelector("button").addEventListener("click", () => {
      closedDialogs.push(words);
      dialog.remove();
    });
    document.body.append(dialog);
    return new Promise(setImmediate);
  };
  await setConnection("PINGING_SERVER");
  await dialog("Connection error: streamlit run yourscript.py");
  assert.deepEqual(closedDialogs, ["Connection error: streamlit run yourscript.py"]);
  await dialog("A question of ours");
  assert.equal(closedDialogs.length, 1);
  await setConnection("CONNECTED");
});
