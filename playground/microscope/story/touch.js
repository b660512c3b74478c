// The drawings of the story that a hand moves: a megaphone, three books of a library, the volume of a mixing desk, who
// asks in the last scene but one. Like story/figures.js, they know the facts and get their words from the scene.
import { ROLES } from "../core/colours.js";
import { percent } from "../core/numbers.js";
import { dialToScale } from "../core/view.js";
import { sayMath } from "../drawing/dom.js";
import { heardAfter, MOST_SHARES, sharesAt } from "./facts.js";
import { barsIn, elementIn, shareBar, stripIn } from "./marks.js";
import { filledIn } from "./words.js";

const OWN_DIAL = 0.5; // where the scale of the model stands on the dial of core/view.js

// look: see story/figures.js; `over(changes)` draws them over the picture, `choose(changes)` changes its view.
export const TOUCHED = {
  // How far stacked convolutions hear, layer by layer, and what one layer of attention hears.
  reach(box, { most, words }, { pack }, { over, guessed }) {
    const line = elementIn(box, "p", "story-touch");
    const dial = dialIn(line, { min: 1, max: guessed ? most.after : most.before, step: 1, value: 1 }, words.layers);
    const hears = elementIn(line, "output");
    const megaphone = buttonIn(box, words.megaphone);
    const convolve = () => {
      const layers = Number(dial.value);
      hears.textContent = filledIn(words.heard, { stacked: layers, count: heardAfter(layers) });
      megaphone.setAttribute("aria-pressed", "false");
      over({ rings: layers, still: true, everybody: false });
    };
    dial.addEventListener("input", convolve);
    hears.textContent = filledIn(words.heard, { stacked: 1, count: heardAfter(1) });
    megaphone.setAttribute("aria-pressed", "false");
    megaphone.addEventListener("click", () => {
      if (megaphone.getAttribute("aria-pressed") === "true") return convolve();
      megaphone.setAttribute("aria-pressed", "true");
      hears.textContent = filledIn(words.everybody, { count: pack.patches });
      over({ everybody: true });
    });
  },

  // The query of the square, and the key, the score and the value's length of one of three tokens.
  library(box, { q, words }, { books, pack }, { ratio, over }) {
    const most = Math.max(...q.map(Math.abs), ...books.flatMap(({ k }) => [...k].map(Math.abs)));
    const shelf = elementIn(box, "p", "story-touch");
    const open = elementIn(box, "div", "story-book");
    const buttons = books.map((book) => {
      const button = buttonIn(shelf, words[book.kind]);
      button.addEventListener("click", () => read(book));
      return button;
    });
    const read = ({ kind, token, k, score, share, length }, moved = true) => {
      for (const [at, button] of buttons.entries())
        button.setAttribute("aria-pressed", String(books[at].kind === kind));
      open.replaceChildren();
      stripIn(open, "query", q, most, ROLES.query, ratio);
      stripIn(open, "key", k, most, ROLES.key, ratio);
      const told = { keyScore: score.toFixed(2).replace("-", "−"), keyShare: percent(share) };
      sayMath(elementIn(open, "p"), filledIn(words.finds, told));
      if (length !== null) {
        const value = elementIn(open, "p", "story-value");
        elementIn(value, "b").textContent = words.value;
        elementIn(value, "i").style.setProperty("--long", `${100 * length}%`);
      }
      if (moved) over({ at: token - pack.prefixCount });
    };
    read(books[0], false);
  },

  // The channels of a mixing desk: the shares at any volume. Only quieter than the model's own before it was guessed.
  knob(box, { words }, facts, { guessed, choose }) {
    const channels = elementIn(box, "div", "story-desk");
    const line = elementIn(box, "p", "story-touch");
    const most = guessed ? 1 : OWN_DIAL;
    const dial = dialIn(line, { min: 0, max: most, step: 0.01, value: most }, words.volume);
    const reads = elementIn(line, "output");
    const turn = () => {
      const scale = dialToScale(Number(dial.value), facts.pack.scale);
      const { shares, clips } = sharesAt(facts, scale, MOST_SHARES);
      channels.replaceChildren();
      barsIn(channels, shares.map(shareBar), 1);
      box.classList.toggle("clips", clips);
      reads.textContent = filledIn(clips ? words.clips : words.largest, { loud: percent(shares[0]) });
      return scale;
    };
    dial.addEventListener("input", () => choose({ scale: turn() }));
    turn();
  },

  // Whose row the picture shows.
  asker(box, { words, query }, _, { choose }) {
    const line = elementIn(box, "p", "story-touch");
    const asks = { square: query, cls: "cls" };
    const buttons = Object.keys(asks).map((name) => {
      const button = buttonIn(line, words[name]);
      button.setAttribute("aria-pressed", String(name === "square"));
      button.addEventListener("click", () => {
        for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
        choose({ query: asks[name] });
      });
      return button;
    });
  },
};

function dialIn(line, range, label) {
  const holder = elementIn(line, "label");
  elementIn(holder, "span").textContent = label;
  return Object.assign(elementIn(holder, "input"), { type: "range", ...range });
}

function buttonIn(box, words) {
  const button = Object.assign(elementIn(box, "button"), { type: "button" });
  sayMath(button, words);
  return button;
}
