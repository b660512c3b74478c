// What a choice means for the microscope: which traces it shows, and in which view. No DOM in here.

import { DEFAULT_VIEW } from "../core/view.js";

// {main, other} as words of an address: what is asked of the source.
export function tracesOf({ sample, mine, model, detail, beside }) {
  const picture = mine ? { mine } : { sample };
  const wish = (of, name, finer) => ({ ...of, model: name, ...(finer > 1 ? { detail: String(finer) } : {}) });
  const main = wish(picture, model, detail);
  if (!beside) return { main, other: null };
  if (beside.model) return { main, other: wish(picture, beside.model, beside.model === model ? detail : 1) };
  return { main, other: wish(beside.mine ? { mine: beside.mine } : { sample: beside.sample }, model, detail) };
}

// What of the view that a person has chosen stays when `trace` comes after `before`, which may be null: null where
// nothing changes but the grid. A layer and a head that show much on one picture say nothing about another; and a patch
// that was locked is not there.
export function viewFor(trace, before, view) {
  const another = before?.picture.id !== trace.picture.id;
  const sameModel = before?.model === trace.model;
  if (!another && sameModel) return null;
  const kept = { ...view };
  const opensByItself = Object.keys(trace.opens ?? {}).length > 0 || (another && trace.private);
  if (opensByItself || !sameModel) for (const key of ["layer", "head"]) delete kept[key];
  if (another) for (const key of ["locked", "query", "cut"]) delete kept[key];
  return kept;
}

// What is compared stands beside the picture as soon as it is chosen, and no longer than it is.
export const besideFor = (view, compares) => ({
  ...view,
  beside: compares ? "compare" : view.beside === "compare" ? DEFAULT_VIEW.beside : view.beside,
});

// What the app says beside the picture where it chose the model, or where another one would suit: {says, model, label},
// or null.
export function adviceFor(trace, kind, { chose }, before, real) {
  const wasOther = before && before.model !== trace.model;
  const thing = kind === "drawing" ? "a drawing" : "a photograph";
  if (!chose && wasOther)
    return {
      says: `${thing}: shown in ${trace.title}`,
      model: before.model,
      label: `use ${before.title}${before.model === real?.model ? once(real) : ""}`,
    };
  if (trace.model === "bundled" && kind !== "drawing" && real)
    return {
      says: "This small model knows drawings best.",
      model: real.model,
      label: `See it with ${real.title}${once(real)}`,
    };
  if (real && !real.here && real.may_fetch && trace.model !== real.model)
    return {
      says: "DINOv2 makes this work on photographs:",
      model: real.model,
      label: `fetch ${real.title}${once(real)}`,
    };
  return null;
}

// What fetching it costs, where it is not here.
const once = ({ here, megabytes }) => (here || !megabytes ? "" : ` (${megabytes} MB, once)`);
