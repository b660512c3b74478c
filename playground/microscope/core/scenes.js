// Scenes: views that were saved in order, each a name and an address. An address says everything: which picture, which
// model, and what core/view.js lists of the view. No DOM in here.

import { DEFAULT_VIEW, viewFromQuery, viewToQuery } from "./view.js";

const MOST_SCENES = 60;
export const LONGEST_NAME = 60; // letters
const LONGEST_ADDRESS = 500;

// `place`: the picture and the model, as an address has them.
export const sceneAddress = (place, view) => [place, viewToQuery(view)].filter(Boolean).join("&");

// {place, view} of an address.
export function openScene(address) {
  const place = new URLSearchParams(address);
  for (const key of Object.keys(DEFAULT_VIEW)) place.delete(key);
  return { place: place.toString(), view: viewFromQuery(address) };
}

// A list from a browser's storage or from a link, which may hold anything: what is no scene is left out.
export function readScenes(text) {
  let list = null;
  try {
    list = JSON.parse(text);
  } catch {
    // not ours
  }
  if (!Array.isArray(list)) return [];
  return list
    .filter((scene) => typeof scene?.address === "string" && scene.address.length <= LONGEST_ADDRESS)
    .map(({ name, address }) => ({ name: typeof name === "string" ? name.slice(0, LONGEST_NAME) : "", address }))
    .slice(0, MOST_SCENES);
}

export const writeScenes = (list) => JSON.stringify(list.map(({ name, address }) => ({ name, address })));

// Those of a link come after one's own, each once.
export function joinScenes(own, given) {
  const known = new Set(own.map(({ address }) => address));
  return [...own, ...given.filter(({ address }) => !known.has(address))].slice(0, MOST_SCENES);
}

export const renameScene = (list, place, name) => list.map((scene, i) => (i === place ? { ...scene, name } : scene));

// The list with one of its scenes moved up (−1) or down (1).
export function moveScene(list, from, by) {
  const to = Math.min(list.length - 1, Math.max(0, from + by));
  const moved = [...list];
  moved.splice(to, 0, ...moved.splice(from, 1));
  return moved;
}

// Which one a step leads to; at either end it stays. Before the first step none is shown (−1).
export function sceneAfter(at, by, count) {
  if (at < 0) return by > 0 ? 0 : count - 1;
  return Math.min(count - 1, Math.max(0, at + by));
}
