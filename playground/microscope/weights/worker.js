// A worker that opens dropped files of weights, and then ends. The worker loads nothing from a network.
// It receives {files, folder, given, numbers}, see opening.js. It sends {share: the share of the work that is done}
// repeatedly, then {model: {name, bytes, …}} or {error: a sentence}.

import { openModel } from "./opening.js";

const NO_MEMORY = "There is not enough memory in this browser to open that model.";
const REPORT_EVERY = 0.02; // share of the work between two reports

self.addEventListener("message", async ({ data: { files, ...options } }) => {
  let reportedShare = 0;
  const report = (share) => {
    if (share - reportedShare < REPORT_EVERY) return;
    reportedShare = share;
    self.postMessage({ share });
  };
  try {
    const model = await openModel(files, { ...options, tell: report });
    self.postMessage({ model }, [model.bytes.buffer]);
  } catch (error) {
    const sentence = error instanceof RangeError ? NO_MEMORY : String(error?.message ?? error);
    self.postMessage({ error: sentence });
  }
});
