// Showing it to others: a link to what is on the screen, and the whole screen.

import { viewToQuery } from "../core/view.js";
import { say } from "../drawing/dom.js";
import { refresh } from "./layout.js";

export async function copyLink(lens) {
  const { view, refs, host } = lens;
  const own = () => `${location.href.split("#")[0]}#${viewToQuery(view)}`;
  const url = (await host.link?.({ ...view })) || own();
  const copied = await putOnClipboard(lens, url);
  const about = lens.main.trace.private ? " Your own image does not travel in it." : "";
  say(refs.message, copied ? `Link copied.${about}` : url);
  setTimeout(() => say(refs.message, ""), copied ? 4000 : 20000);
}

// Gives whether it could be done.
export async function putOnClipboard(lens, text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(lens, text);
  }
}

// Pages without HTTPS have no clipboard interface.
function copyBySelection(lens, text) {
  const area = document.createElement("textarea");
  area.value = text;
  lens.root.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export async function togglePresenting(lens) {
  const { root, refs } = lens;
  if (lens.presenting) {
    if (document.fullscreenElement) await document.exitFullscreen();
    leavePresenting(lens);
    return;
  }
  lens.presenting = true;
  root.classList.add("presenting");
  say(refs.present, "Leave");
  await root.requestFullscreen?.().catch(() => {}); // a frame may forbid it; then the lens fills that frame
  refresh(lens);
  refs.picture.focus();
}

export function leavePresenting(lens) {
  if (!lens.presenting || lens.root.getRootNode().fullscreenElement || document.fullscreenElement) return;
  lens.presenting = false;
  lens.root.classList.remove("presenting");
  say(lens.refs.present, "Present");
  refresh(lens);
}
