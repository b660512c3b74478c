// The entry of the learner's page (page.js) on a server, which answers over HTTP.

import { addressWords, viewNow } from "./address.js";
import { fillExport } from "./export.js";
import { addressOf } from "./http.js";
import { source } from "./httpsource.js";
import { beginPage } from "./page.js";

// The parameters for a lesson's parts: those of the address, and the head on view in the microscope. They stand in one
// order, so that the browser finds again what it has kept.
function lessonWords(more) {
  const words = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(addressWords())), ...more });
  const { layer, head } = viewNow();
  if (Number.isInteger(layer) && Number.isInteger(head)) words.set("seen", `${layer}.${head}`);
  for (const name of ["step", "class"]) words.delete(name);
  words.sort();
  return words;
}

beginPage({
  follows: true,
  toolbar: { fillExport },
  lessonOf: (page) => ({
    record: `api/lessons/${page}`,
    kit: "api/lessons",
    parts: ({ file }, more) => `${file}?${lessonWords(more)}`,
    read: source.bytes,
    fileAt: addressOf,
  }),
});
