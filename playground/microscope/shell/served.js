// The entry of the learner's page (page.js) on a server, which answers over HTTP.

import { addressWords } from "./address.js";
import { addressOf } from "./http.js";
import { source } from "./httpsource.js";
import { beginPage } from "./page.js";
import { readPageData } from "./pagedata.js";
import { computeOwnHere } from "./siteanswers.js";

// The address's parameters in one order, so that the browser finds again what it has kept.
function sortedWords() {
  const words = new URLSearchParams(addressWords());
  words.delete("step");
  words.sort();
  return words;
}

const { lessons } = JSON.parse(document.querySelector("script[data-site]").dataset.site);
const { computes } = readPageData();
if (computes.length) computeOwnHere(computes);
beginPage({
  follows: true,
  toolbar: {},
  lessonOf: (page) => ({
    ...{ record: `api/lessons/${page}`, kit: lessons.kit, parts: ({ file }) => `${file}?${sortedWords()}` },
    ...{ read: source.bytes, fileAt: addressOf },
  }),
});
