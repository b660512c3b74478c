// The data in the page's HTML about all pages (ui/site/page.py::toolbar_data).
let pageData = null;

export const readPageData = () =>
  (pageData ??= JSON.parse(document.querySelector("script[data-toolbar]")?.dataset.toolbar ?? "null"));
