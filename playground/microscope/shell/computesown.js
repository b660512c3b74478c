// Where the operator wants it, a person's own photographs are computed by their own browser, and do not travel. What
// needs Python asks before one does.

import { catalogue } from "./catalogue.js";
import { computeHere, ownPicture } from "./computing.js";
import { addressOf, answerHere, ask } from "./http.js";
import { notify } from "./notice.js";
import { ownPictures } from "./own.js";
import { createPreparedSource } from "./preparedsource.js";
import { createPageAnswers } from "./siteanswers.js";
import { askNearer } from "./source.js";

const ENGINE = "api/engine";
const WOULD_TRAVEL = "This is computed by the server: your photograph would travel to it.";
const COMPUTED_HERE = ["open", "layers", "picture", "features", "flows", "rollout", "whole", "moved", "names"];

// `models`: names of those that this browser can run.
export function computeOwnHere(models) {
  const mayGo = new Set(); // photographs that may travel
  let coming = null;
  const begun = () => {
    coming ??= begin();
    coming.catch(() => {
      coming = null; // the next question tries again
    });
    return coming;
  };

  async function begin() {
    const told = await (await ask(ENGINE)).json();
    const { kept, networks, computing } = computeHere(told, addressOf, ({ mine }) => ownPicture(mine));
    const source = createPreparedSource({ computing, models: networks, isKept: kept.isKept, preparedOf: () => null });
    const arrived = (model) => {
      catalogue.own = { model, detail: 1 };
    };
    const answers = createPageAnswers({ models: networks, kept, arrived });
    const small = Object.keys(networks).find((name) => !networks[name].asked);
    if (small && !(await kept.isKept(catalogue.own.model))) catalogue.own = { model: small, detail: 1 };
    return { source, answers };
  }

  const isOurs = (path, { method, travels }) =>
    (path === "api/pictures" && method === "POST" && !travels) ||
    (path.startsWith("api/fetching?") && models.includes(new URLSearchParams(path.split("?")[1]).get("model")));
  answerHere((path, asked) => (isOurs(path, asked) ? begun().then(({ answers }) => answers(path, asked)) : null));

  const late =
    (name) =>
    async (...asked) =>
      (await begun()).source[name](...asked);
  const has = (what) => Boolean((what.words ?? what).mine) && models.includes(what.model);
  askNearer({ has, ...Object.fromEntries(COMPUTED_HERE.map((name) => [name, late(name)])), beginWith: async () => {} });

  ownPictures.mayTravel = async (id) => {
    if (!mayGo.has(id) && (await asksWhetherItMay())) mayGo.add(id);
    return mayGo.has(id);
  };
}

const asksWhetherItMay = () =>
  new Promise((go) => {
    const action = { label: "Send it", act: () => go(true) };
    notify(WOULD_TRAVEL, { action, closed: () => go(false) });
  });
