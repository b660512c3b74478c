// The wall of moments: each tile shows one row of attention, and a press on a tile opens its picture, layer, head and
// patch.
import { localNumber, percent } from "../core/numbers.js";
import { sayRow, shownPlace } from "../core/says.js";
import { make } from "../drawing/dom.js";
import { seeWords } from "../lens/words.js";
import { openFace } from "./address.js";
import { addressOf, askJson, wordsOfTrouble } from "./http.js";

const WALL_MARKUP = `<h1></h1><p class="wall-says"></p><ul class="wall"></ul>`;

// way: {link(page, words): returns an address, go(page, words): opens it}
export function mountWall(root, { link, go }) {
  root.innerHTML = WALL_MARKUP;
  const face = openFace();
  let moments = [];
  const draw = () => writeWall(root, moments, face.language, { link, go });
  const unfollow = face.follow(draw);
  draw();
  askJson("api/moments")
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
  const { before, place, after } = sayRow(language, row);
  const share = localNumber(language, percent(shownPlace(row.told).share));
  const origin = seeWords(language, "wallFrom", { layer: words.layer, head: words.head, model });
  const onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // the browser opens a new tab
    event.preventDefault();
    go("microscope", words);
  };
  const anchor = make(
    "a",
    { href: link("microscope", words), onclick },
    make("img", { width, height, loading: "lazy", src: addressOf(picture), alt: "" }),
    make("b", { "aria-hidden": "true" }, share),
    make("span", "", before + place + after),
    make("small", "", `${title} · ${origin}`),
  );
  return make("li", { style: `--aspect: ${width / height}` }, anchor);
}
