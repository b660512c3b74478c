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
  let wasTold = false;
  const checkConnection = () => {
    closeStreamlitsDialog();
    if (isConnected()) {
      clearTimeout(timer);
      timer = 0;
      if (wasTold) forgetNotice();
      wasTold = false;
      return;
    }
    timer ||= setTimeout(() => {
      wasTold = true;
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

const DOOR_SOON = 3000; // ms without a connection before anything is reported
const DOOR_AGAIN = 5000;
const SERVER_AWAY = "The server does not answer. This page tries again by itself.";
const FULL_STATUS = 503;
const NO_LESSONS = "The server is full: the picture works, and lessons come as soon as there is room.";

let wasConnected = false; // whether the page has had a connection; from then on only watchConnection reports
let doorSign = null;
let isNoticed = false;

export function watchDoor() {
  setTimeout(askWhetherOpen, DOOR_SOON);
}

export function enterTheDoor() {
  wasConnected = true;
  showDoorSign("");
  if (isNoticed) forgetNotice();
}

async function askWhetherOpen() {
  if (wasConnected) return;
  if (hasConnected()) showDoorSign("");
  else {
    const page = await fetch(location.href, { cache: "no-store" }).catch(() => null);
    page?.body?.cancel();
    if (wasConnected) return;
    const isFull = page?.status === FULL_STATUS;
    if (isEarly()) sayInNotice(isFull || page?.headers.has("X-Playground-Full") ? NO_LESSONS : page ? "" : SERVER_AWAY);
    else if (isFull) return location.reload();
    else showDoorSign(page ? "" : SERVER_AWAY);
  }
  setTimeout(askWhetherOpen, DOOR_AGAIN);
}

function sayInNotice(sentence) {
  if (sentence) notify(sentence, { stays: Number.POSITIVE_INFINITY });
  else if (isNoticed) forgetNotice();
  isNoticed = Boolean(sentence);
}

function showDoorSign(sentence) {
  if (!sentence) {
    doorSign?.remove();
    doorSign = null;
    return;
  }
  if (!doorSign) {
    doorSign = document.createElement("div");
    doorSign.className = "attention-door";
    doorSign.setAttribute("role", "status");
    doorSign.style.cssText =
      "position: fixed; inset: 0; z-index: 1000001; display: grid; place-items: center; padding: 1rem; " +
      "background: Canvas; color: CanvasText; color-scheme: light dark; font: 1.1rem/1.5 system-ui; text-align: center";
    document.body.append(doorSign);
  }
  if (doorSign.textContent !== sentence) doorSign.textContent = sentence;
}
