// The small drawings of the story's column: bars, strips of numbers, the heads, the layers. `box` is filled anew; a
// drawing knows the facts of the story and nothing of its scenes' words.
import { ownExposure } from "../core/answers.js";
import { percent } from "../core/numbers.js";
import { FIRST_WAY } from "../core/ways.js";
import { makePhoto, makePrint, printHeat } from "../drawing/light.js";
import { barsIn, canvasIn, elementIn, shareBar } from "./marks.js";
import { TOUCHED } from "./touch.js";

const ENLARGED = 168; // px: one patch
const HEAD_WIDE = 92; // px

// look: {photo: (width, height) → see drawing/light.js, aspect, ratio, code, name: (token) → words, guessed,
//        over(changes), choose(changes): what a hand moves changes over the picture, and in its view}
export function drawFigure(box, figure, facts, look) {
  box.replaceChildren();
  if (figure) FIGURES[figure.kind](box, figure, facts, look);
}

const FIGURES = {
  ...TOUCHED,

  // The square of the story, as large as a hand.
  patch(box, _, { pack, patch }, { photo, ratio }) {
    const canvas = canvasIn(box, ENLARGED, ENLARGED, ratio);
    const size = 24;
    const { clear } = photo(pack.columns * size, pack.rows * size);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    const [x, y] = [(patch % pack.columns) * size, Math.floor(patch / pack.columns) * size];
    context.drawImage(clear, x, y, size, size, 0, 0, canvas.width, canvas.height);
  },

  // The largest products, one a line: q × k = their product.
  products(box, { products }) {
    const list = elementIn(box, "ol", "story-products");
    const text = (x) => x.toFixed(2).replace("-", "−");
    for (const { at, q, k, product } of products) {
      const line = elementIn(list, "li");
      line.title = `${at}`;
      line.innerHTML = `<b class="q">${text(q)}</b> × <b class="k">${text(k)}</b> = ${text(product)}`;
    }
  },

  // The largest shares of the row.
  shares(box, { shares }) {
    barsIn(box, shares.map(shareBar), Math.max(...shares));
  },

  // Share, and what is left of it after the length of the value.
  handed(box, { handed }, _, { name }) {
    const most = Math.max(...handed.map(({ share }) => share), 1e-9);
    const list = elementIn(box, "ul", "story-handed");
    for (const { token, share, product } of handed) {
      const line = elementIn(list, "li");
      elementIn(line, "span").textContent = name(token);
      for (const [kind, value] of [
        ["share", share],
        ["product", product],
      ]) {
        const bar = elementIn(line, "i", kind);
        bar.style.setProperty("--long", `${(100 * value) / most}%`);
      }
      elementIn(line, "em").textContent = percent(share);
    }
  },

  // All heads of the layer, for the same square.
  heads(box, { heads }, { pack, head }, { photo, aspect, ratio }) {
    const list = elementIn(box, "div", "story-heads");
    const print = photo(HEAD_WIDE * ratio, (HEAD_WIDE / aspect) * ratio);
    for (const one of heads) {
      const figure = elementIn(list, "figure", one.head === head ? "ours" : "");
      const canvas = elementIn(figure, "canvas");
      const domain = ownExposure(one.row, 0, pack, FIRST_WAY, "auto", false);
      printHeat(makePrint(print, canvas), one.row, pack.prefixCount, pack.rows, pack.columns, domain);
      elementIn(figure, "figcaption").textContent = String(pack.headNumbers[one.head]);
    }
  },

  // The most that a head of each layer gives to the place; what was asked for is marked after the guess.
  layers(box, { layers, first, asker }, facts, look) {
    const { guessed } = look;
    const bars = layers.map((share, at) => ({ share, text: String(at), marked: guessed && at === first }));
    barsIn(box, guessed ? bars : bars.map((bar) => ({ ...bar, share: 0 })), Math.max(...layers));
    if (guessed && asker) TOUCHED.asker(box, asker, facts, look);
  },

  code(box, _, __, { code, guessed }) {
    if (!guessed) return;
    const listing = elementIn(box, "pre");
    elementIn(listing, "code").textContent = code;
  },
};

export const photoAs = (image) => (width, height) => makePhoto(image, Math.round(width), Math.round(height));
