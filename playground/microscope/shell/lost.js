// The script of the static site's page for unknown addresses: redirects links that have the app's paths. The app has a
// path for each lesson; a static site has the lesson's name behind the #.

const { base, pages } = document.querySelector("script[data-base]").dataset;
const { pathname, search, hash } = location;
const lostName = pathname.replace(/\/+$/, "").split("/").at(-1);
if (hash === "" && pages.split(" ").includes(lostName)) {
  const words = new URLSearchParams(search);
  if (lostName !== "microscope") words.set("page", lostName);
  location.replace(`${base}#${words}`);
}
