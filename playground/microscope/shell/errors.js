// A sentence about what went wrong goes when something new has come after it.

import { partOfStreamlit, partsOfStreamlit, RUN, TOAST, TOAST_ICON } from "./streamlitparts.js";

const errorsOnPage = () =>
  partsOfStreamlit(TOAST).filter((toast) => partOfStreamlit(TOAST_ICON, toast)?.textContent === "error");

// `outdated` closes those that stood there when the last run of the page began.
export function followErrors() {
  const app = document.querySelector(`[${RUN}]`);
  let before = [];
  const observer = new MutationObserver(() => {
    if (app.getAttribute(RUN) === "running") before = errorsOnPage();
  });
  if (app) observer.observe(app, { attributeFilter: [RUN] });
  return {
    outdated() {
      for (const toast of before) if (toast.isConnected) toast.querySelector('[slot="close"]')?.click();
    },
    stop: () => observer.disconnect(),
  };
}
