// The one source of this document: over HTTP, with a person's own pictures brought again where the server forgot them.

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
