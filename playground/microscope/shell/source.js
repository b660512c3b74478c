// The one source of this document: over HTTP, with a person's own pictures brought again where the server forgot them.
// Where this browser can compute, what it knows is asked of it.

import { Refusal } from "./http.js";
import { createHttpSource } from "./httpsource.js";
import { ownPictures } from "./own.js";
import { sayWaiting } from "./waiting.js";

const NOT_HERE = "This browser does not have that photograph: it was forgotten, or it is somebody else's.";

export const source = createHttpSource({
  bringAgain: async (id, how) => {
    if (await ownPictures.bringAgain(id, how)) return true;
    throw new Refusal(404, NOT_HERE);
  },
  onWait: sayWaiting,
});

// From now on `nearer` answers for what it has: `nearer.has(the words of a picture and a model, or a trace)`.
export function askNearer(nearer) {
  const server = { ...source };
  const whoHas = (what) => (nearer.has(what) ? nearer : server);
  for (const [name, question] of Object.entries({ ...server, ...nearer }))
    if (typeof question === "function") source[name] = (what, ...more) => whoHas(what)[name](what, ...more);
  source.forget = server.forget;
  Object.assign(source, { keeps: nearer.keeps, keepsPictures: nearer.keepsPictures });
}
