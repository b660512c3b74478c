// The data in the page's HTML about all pages (ui/site/page.py::toolbar_data): {samples: the address of their
// list, pages: [{name, title, number}], titles, labelled, computes: models that this browser runs on a
// person's own pictures, version, …}
let pageData = null;

export const readPageData = () =>
  (pageData ??= JSON.parse(document.querySelector("script[data-toolbar]")?.dataset.toolbar ?? "null"));
