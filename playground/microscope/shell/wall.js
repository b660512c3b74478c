// The wall of moments: each tile shows one row of attention, and a press on a tile opens its picture, layer, head and
// patch.
import { localNumber, percent } from "../core/numbers.js";
import { sayRow, shownPlace } from "../core/says.js";
import { seeWords } from "../see/words.js";
import { openFace } from "./address.js";
import { addressOf, ask, wordsOfTrouble } from "./http.js";

const WALL_MARKUP = `<h1></h1><p class="wall-says"></p><ul class="wall"></ul>`;

// way: {link(page, words): returns an address, go(page, words): opens it}
export function mountWall(root, { link, go }) {
  root.innerHTML = WALL_MARKUP;
  const face = openFace();
  let moments = [];
  const draw = () => writeWall(root, moments, face.language, { link, go });
  const unfollow = face.follow(draw);
  draw();
  ask("api/moments")
    .then((response) => response.json())
    .then((list) => {
      moments = list;
      draw();
    })
    .catch((error) => {
      root.querySelector(".wall-says").textContent = wordsOfTrouble(error);
    });
  return unfollow;
}

function writeWall(root, moments, language, way) {
  root.lang = language;
  root.querySelector("h1").textContent = seeWords(language, "wall");
  root.querySelector(".wall-says").textContent = seeWords(language, "wallSays");
  root.querySelector(".wall").replaceChildren(...moments.map((moment) => tileOf(moment, language, way)));
}

// A list item for a moment, {words: address parameters, row: as in core/says.js, title, model, picture: the picture's
// address, size}.
function tileOf({ words, row, title, model, picture, size: [width, height] }, language, { link, go }) {
  const tile = document.createElement("li");
  tile.style.setProperty("--aspect", String(width / height));
  const anchor = document.createElement("a");
  anchor.href = link("microscope", words);
  const image = new Image(width, height);
  Object.assign(image, { src: addressOf(picture), alt: "", loading: "lazy" });
  const { before, place, after } = sayRow(language, row);
  const sentence = document.createElement("span");
  sentence.textContent = before + place + after;
  const originLine = document.createElement("small");
  const origin = { layer: words.layer, head: words.head, model };
  originLine.textContent = `${title} · ${seeWords(language, "wallFrom", origin)}`;
  const share = document.createElement("b");
  share.textContent = localNumber(language, percent(shownPlace(row.told).share));
  share.setAttribute("aria-hidden", "true");
  anchor.append(image, share, sentence, originLine);
  anchor.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // the browser opens a new tab
    event.preventDefault();
    go("microscope", words);
  });
  tile.append(anchor);
  return tile;
}
