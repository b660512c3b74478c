// The WebSocket of the page is lost: said in our words, while the picture goes on working, for its numbers come over
// HTTP. Streamlit tries again by itself; its own dialog, which tells how to start a server, is closed, also before
// anything was drawn: door.js says then what is wrong.

import { forgetNotice, notify } from "./notice.js";
import { CONNECTION, isConnected } from "./streamlitparts.js";

const SHORT_BREAK = 2000; // ms: a short break is nobody's business
const CONNECTION_LOST =
  "The connection to the server is lost; the page tries again by itself. The picture goes on working.";

function closeStreamlitsDialog() {
  const dialogs = [...document.querySelectorAll("[role=dialog]")];
  const itsOwn = dialogs.find((dialog) => dialog.textContent.includes("Connection error"));
  itsOwn?.querySelector("button[aria-label='Close']")?.click();
}

export function watchDialog() {
  new MutationObserver(closeStreamlitsDialog).observe(document.documentElement, { subtree: true, childList: true });
}

export function watchConnection() {
  let timer = 0;
  let told = false;
  const look = () => {
    closeStreamlitsDialog();
    if (isConnected()) {
      clearTimeout(timer);
      timer = 0;
      if (told) forgetNotice();
      told = false;
      return;
    }
    timer ||= setTimeout(() => {
      told = true;
      notify(CONNECTION_LOST, { stays: Number.POSITIVE_INFINITY });
    }, SHORT_BREAK);
  };
  const watch = new MutationObserver(look);
  watch.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: [CONNECTION] });
  look();
  return () => {
    clearTimeout(timer);
    watch.disconnect();
  };
}
