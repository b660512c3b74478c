// Tells a person who has to wait how many come first; see http.js.

import { notify } from "./notice.js";

let waited = false;

export function sayWaiting(before) {
  if (before) notify(`Waiting: ${before} ${before === 1 ? "person" : "people"} before you`);
  else if (waited) notify("");
  waited = before > 0;
}
