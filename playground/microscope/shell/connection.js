// Reports that Streamlit's WebSocket is lost. The picture goes on working because its numbers come over HTTP, and
// Streamlit reconnects by itself. Streamlit's own dialog, which explains how to start a server, is closed.
import { CONNECTION, hasConnected, isConnected, isEarly } from "./early.js";
import { forgetNotice, notify } from "./notice.js";

const SHORT_BREAK = 2000; // ms; shorter breaks are not reported
const CONNECTION_LOST =
  "The connection to the server is lost; the page tries again by itself. The picture goes on working.";

function closeStreamlitsDialog() {
  const dialogs = [...document.querySelectorAll("[role=dialog]")];
  const errorDialog = dialogs.find((dialog) => dialog.textContent.includes("Connection error"));
  errorDialog?.querySelector("button[aria-label='Close']")?.click();
}

export function watchDialog() {
  new MutationObserver(closeStreamlitsDialog).observe(document.documentElement, { subtree: true, childList: true });
}

export function watchConnection() {
  let timer = 0;
  let isReported = false;
  const checkConnection = () => {
    closeStreamlitsDialog();
    if (isConnected()) {
      clearTimeout(timer);
      timer = 0;
      if (isReported) forgetNotice();
      isReported = false;
      return;
    }
    timer ||= setTimeout(() => {
      isReported = true;
      notify(CONNECTION_LOST, { stays: Number.POSITIVE_INFINITY });
    }, SHORT_BREAK);
  };
  const observer = new MutationObserver(checkConnection);
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: [CONNECTION] });
  checkConnection();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

// For a page that never got a connection, where Streamlit shows only grey bars. If the server is full, the server's own
// page says so and reloads; if there is no answer, this code says so. A person who already sees the microscope keeps it
// and gets a notice about missing functions.

const FIRST_CHECK_DELAY = 3000; // ms without a connection before anything is reported
const CHECK_INTERVAL = 5000; // ms from one check to the next
const SERVER_AWAY = "The server does not answer. This page tries again by itself.";
const FULL_STATUS = 503;
const NO_LESSONS = "The server is full: the picture works, and lessons come as soon as there is room.";

let wasConnected = false; // whether the page has had a connection; from then on only watchConnection reports
let overlay = null;
let isNoticeShown = false;

export function watchFirstConnection() {
  setTimeout(checkServer, FIRST_CHECK_DELAY);
}

export function markConnected() {
  wasConnected = true;
  showOverlay("");
  if (isNoticeShown) forgetNotice();
}

async function checkServer() {
  if (wasConnected) return;
  if (hasConnected()) showOverlay("");
  else {
    const page = await fetch(location.href, { cache: "no-store" }).catch(() => null);
    page?.body?.cancel();
    if (wasConnected) return;
    const isFull = page?.status === FULL_STATUS;
    if (isEarly()) sayInNotice(isFull || page?.headers.has("X-Playground-Full") ? NO_LESSONS : page ? "" : SERVER_AWAY);
    else if (isFull) return location.reload();
    else showOverlay(page ? "" : SERVER_AWAY);
  }
  setTimeout(checkServer, CHECK_INTERVAL);
}

function sayInNotice(sentence) {
  if (sentence) notify(sentence, { stays: Number.POSITIVE_INFINITY });
  else if (isNoticeShown) forgetNotice();
  isNoticeShown = Boolean(sentence);
}

function showOverlay(sentence) {
  if (!sentence) {
    overlay?.remove();
    overlay = null;
    return;
  }
  if (!overlay) {
    overlay = document.createElement("div");
    overlay.className = "attention-door";
    overlay.setAttribute("role", "status");
    overlay.style.cssText =
      "position: fixed; inset: 0; z-index: 1000001; display: grid; place-items: center; padding: 1rem; " +
      "background: Canvas; color: CanvasText; color-scheme: light dark; font: 1.1rem/1.5 system-ui; text-align: center";
    document.body.append(overlay);
  }
  if (overlay.textContent !== sentence) overlay.textContent = sentence;
}
