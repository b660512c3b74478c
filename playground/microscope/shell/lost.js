// The page of an address that is not there. The app has a page of its own for each lesson; here they stand behind
// the #, and a link to one leads there.

const { base, pages } = document.querySelector("script[data-base]").dataset;
const { pathname, search, hash } = location;
const lostName = pathname.replace(/\/+$/, "").split("/").at(-1);
if (hash === "" && pages.split(" ").includes(lostName)) {
  const words = new URLSearchParams(search);
  if (lostName !== "microscope") words.set("page", lostName);
  location.replace(`${base}#${words}`);
}
