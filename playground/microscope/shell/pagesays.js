// What the page's HTML says of all pages of the app (ui/ahead.py): {samples: the address of their list,
// pages: [{name, short, title, number, exports}], titles, labelled, steps: of the tour,
// computes: models that this browser runs on a person's own pictures, version}

const SCRIPT = "script[data-toolbar]";

let said = null;

export const pageSays = () => (said ??= JSON.parse(document.querySelector(SCRIPT)?.dataset.toolbar ?? "null"));
