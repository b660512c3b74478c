// The cards of models: what stands on one, and the small picture of what that model makes of the picture on the page.

const HERE_OR_NOT = [
  [true, "On this machine"],
  [false, "To fetch once"],
];

// [{heading, group: cards}] without empty groups, each in the order in which the server gave its cards.
export function groupsOfModels(cards) {
  const groups = HERE_OR_NOT.map(([here, heading]) => ({ heading, group: cards.filter((card) => card.here === here) }));
  return groups.filter(({ group }) => group.length);
}

export function factsOfModel({ suits, megabytes, licence }) {
  return [suits && `for ${suits}`, megabytes && `${megabytes} MB`, licence].filter(Boolean).join(" · ");
}

export function wordsOfSearch(count) {
  return count ? `${count} found` : "No model that loads is called so: try fewer words.";
}

export function cardOfModel(card, look) {
  const button = modelPart("button", "model-card");
  const words = modelPart("span", "model-words");
  const title = modelPart("b", "", card.title);
  words.append(title, " ", card.good_for, " ", modelPart("small", "", factsOfModel(card)));
  if (card.assumed) words.append(modelPart("small", "", card.assumed));
  button.dataset.model = card.name;
  button.append(...(look ? [look] : []), words);
  return button;
}

// of(card) gives the place of its small picture, or null where to look through that model would take long. The pictures
// come one after another, those first that are in sight: each may be a forward pass.
export function lookThrough(root, ask, { sample, mine }) {
  const places = new Map(); // name -> place; a search and its end show the same one again
  const wanted = [];
  let busy = false;

  async function work() {
    if (busy) return;
    busy = true;
    while (wanted.length && root.isConnected) await look(wanted.shift());
    busy = false;
  }

  async function look(name) {
    const asked = new URLSearchParams({ ...(mine ? { mine } : sample ? { sample } : {}), model: name });
    try {
      const picture = await (await ask(`api/preview?${asked}`)).blob();
      const image = document.createElement("img");
      Object.assign(image, { src: URL.createObjectURL(picture), alt: "", draggable: false });
      image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
      places.get(name).append(image);
    } catch {
      places.get(name).remove(); // the card says all that is needed
    }
  }

  const want = (name) => {
    wanted.push(name);
    work();
  };
  const sight = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      sight.unobserve(target);
      want(target.dataset.look);
    }
  });

  return {
    of({ name, quick }) {
      if (!quick) return null;
      if (!places.has(name)) {
        const place = modelPart("span", "model-look");
        place.dataset.look = name;
        places.set(name, place);
        sight.observe(place);
      }
      return places.get(name);
    },
  };
}

// Names come from outside: they are written as text.
export function modelPart(kind, className = "", text = "") {
  const part = document.createElement(kind);
  if (className) part.className = className;
  if (text) part.textContent = text;
  if (kind === "button") part.type = "button";
  return part;
}
