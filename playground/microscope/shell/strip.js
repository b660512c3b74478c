// The row of pictures: a person's own pictures, the latest first, then the samples. The chosen one is marked.

import { make, oneTabStop, setTabStop, setText } from "../drawing/dom.js";

const MINE_KEY = "mine:"; // prefix in data-sample for the id of an own picture

export const chosenKeyOf = ({ mine, sample }) => (mine ? MINE_KEY + mine : sample);

// `host`: the toolbar's host. Its changing fields are read at each draw(). except: the key of a picture to leave out.
export function createStrip(host) {
  const { choice, ownPictures } = host;
  const [ownRow, samples] = [make("span", "mine"), make("span", "samples")];
  const words = make("span", { className: "own", title: "Drop or paste a picture anywhere on this page" });
  const forgetButton = make("button", {
    className: "forget",
    textContent: "×",
    title: "Remove your pictures, here and on the server",
    "aria-label": "Remove your pictures",
    onclick: () => ownPictures.forget(),
  });
  const pictures = make("div", "pictures", ownRow, forgetButton, samples);
  const root = make("div", { className: "strip", role: "group", "aria-label": "Pictures" }, pictures, words);

  const buttons = () => [...pictures.querySelectorAll("[data-sample]")];

  oneTabStop(pictures, buttons);

  function draw() {
    const chosenKey = chosenKeyOf(choice.now);
    const sampleOf = ({ name, title, hint, kind, thumb }) => ({ key: name, title, hint, kind, src: thumb });
    const ownThumbnail = ({ id, title, src }) => ({ key: MINE_KEY + id, title: `Yours: ${title}`, src });
    const offered = ({ key }) => key !== host.except;
    fill(samples, host.catalogue.samples.map(sampleOf).filter(offered));
    fill(ownRow, ownPictures.list.toReversed().map(ownThumbnail).filter(offered));
    const losesFocus = forgetButton === document.activeElement && !ownPictures.list.length;
    forgetButton.hidden = !ownPictures.list.length;
    for (const button of buttons()) button.setAttribute("aria-pressed", String(button.dataset.sample === chosenKey));
    const picture = ownPictures.list.find(({ id }) => id === choice.now.mine);
    setText(words, picture ? `yours: ${picture.title}` : host.except ? "" : "or drop yours");
    const tabStop = pictures.querySelector('[aria-pressed="true"]') ?? buttons()[0];
    if (losesFocus) tabStop?.focus({ preventScroll: true });
    if (document.activeElement === tabStop || !buttons().includes(document.activeElement))
      setTabStop(buttons(), tabStop);
  }

  function choose(key) {
    if (key.startsWith(MINE_KEY)) choice.set({ mine: key.slice(MINE_KEY.length), sample: null });
    else choice.set({ sample: key, mine: null });
  }

  // Existing buttons stay, because a new one would lose the keyboard's focus and its picture would flicker.
  function fill(row, list) {
    const former = new Map([...row.children].map((button) => [button.dataset.sample, button]));
    const current = list.map((picture) => former.get(picture.key) ?? thumbnailButton(picture, choose));
    for (const button of former.values()) if (!current.includes(button)) button.remove();
    current.forEach((button, i) => row.children[i] !== button && row.insertBefore(button, row.children[i] ?? null));
  }

  return { element: root, draw };
}

function thumbnailButton({ key, title, hint, kind, src }, choose) {
  const fields = { className: kind ?? "own-picture", tabIndex: -1, title: hint ? `${title}. ${hint}` : title };
  const image = make("img", { src, alt: title, draggable: false });
  const act = { onclick: () => choose(key), "data-sample": key, "aria-pressed": "false" };
  return make("button", { ...fields, ...act }, image);
}
