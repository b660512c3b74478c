// What a picture is compared with: another picture, or another model on the same one.

// What choice.now.beside is called; "" when nothing is compared.
export function titleOfBeside({ beside }, { catalogue, ownPictures, titles }) {
  if (!beside) return "";
  if (beside.model) return titles?.[beside.model] ?? beside.model;
  const among = beside.mine ? ownPictures.list : catalogue.samples;
  return among.find((one) => (beside.mine ? one.id === beside.mine : one.name === beside.sample))?.title ?? "";
}

// The sheet of models chooses what stands beside: it sees this instead of the choice.
export const besideAsModel = (choice) => ({
  get now() {
    return { ...choice.now, model: choice.now.beside?.model ?? null };
  },
  set: ({ model }) => choice.set({ beside: model === choice.now.model ? null : { model } }),
  follow: (listener) => choice.follow(listener),
  words: () => choice.words(),
});

// fillWithModels(box) writes the cards of the models.
export function fillCompare(box, { choice, catalogue, ownPictures, titles, fillWithModels, done }) {
  const set = (beside) => {
    choice.set({ beside });
    done();
  };
  const now = choice.now;
  if (now.beside) {
    const end = document.createElement("button");
    Object.assign(end, { type: "button", className: "wide", textContent: "Nothing: end the comparison" });
    end.addEventListener("click", () => set(null));
    const says = document.createElement("p");
    says.textContent = `Compared with ${titleOfBeside(now, { catalogue, ownPictures, titles })}`;
    box.append(says, end);
  }
  const part = document.createElement("div");
  const fills = {
    "Another picture": () => fillWithPictures(part, { now, catalogue, ownPictures, set }),
    "Another model, on this picture": () => fillWithModels(part),
  };
  const tabs = document.createElement("div");
  tabs.className = "tabs";
  const turn = (words) => {
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.textContent === words));
    part.replaceChildren();
    fills[words]();
  };
  for (const words of Object.keys(fills)) {
    const tab = document.createElement("button");
    Object.assign(tab, { type: "button", textContent: words });
    tab.addEventListener("click", () => turn(words));
    tabs.append(tab);
  }
  box.append(tabs, part);
  turn(Object.keys(fills)[now.beside?.model ? 1 : 0]);
}

function fillWithPictures(part, { now, catalogue, ownPictures, set }) {
  const own = ownPictures.list
    .toReversed()
    .map(({ id, title, src }) => ({ words: { mine: id }, title, src, own: true }));
  const samples = catalogue.samples.map(({ name, title, thumb }) => ({ words: { sample: name }, title, src: thumb }));
  const list = document.createElement("div");
  list.className = "besides";
  const is = (words, { mine, sample }) => (words.mine ? words.mine === mine : !mine && words.sample === sample);
  for (const { words, title, src, own: yours } of [...own, ...samples]) {
    if (is(words, now)) continue;
    const button = document.createElement("button");
    const image = document.createElement("img");
    Object.assign(image, { src, alt: "", draggable: false });
    button.type = "button";
    button.dataset.beside = words.mine ? `mine:${words.mine}` : words.sample;
    const name = document.createElement("span");
    name.textContent = yours ? `Yours: ${title}` : title;
    button.title = name.textContent;
    button.append(image, name);
    button.setAttribute("aria-pressed", String(Boolean(now.beside && is(words, now.beside))));
    button.addEventListener("click", () => set(words));
    list.append(button);
  }
  part.append(list);
}
