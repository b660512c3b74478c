// The first script of a page without a server. Styles and the page's script come zipped, so that they are small on a
// host that compresses nothing; the script is put into the page as text, whose digest stands in the page's policy.
import { unzipped } from "../core/container.js";

const BEGIN = document.querySelector("script[data-begin]");
const { styles, script, font } = JSON.parse(BEGIN.dataset.begin);
const fileHere = (name) => new URL(name, BEGIN.src).href;

async function textOf(name) {
  const bytes = await (await fetch(fileHere(name))).arrayBuffer();
  return new TextDecoder().decode(await unzipped(new Uint8Array(bytes)));
}

const [rules, code] = await Promise.all([textOf(styles), textOf(script)]);
const sheet = new CSSStyleSheet();
sheet.replaceSync(rules);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
const put = document.createElement("script");
put.type = "module";
put.textContent = code;
document.head.append(put);

// At a first visit the picture comes before the typeface, and nothing changes its place because of letters.
if (font && navigator.serviceWorker?.controller)
  document.fonts.add(await new FontFace("Source Sans", `url(${fileHere(font)})`, { weight: "200 900" }).load());
