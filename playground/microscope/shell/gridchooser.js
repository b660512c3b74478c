// How finely the picture is cut: a native select of the grids that a model has for it.

import { createIcon } from "./icons.js";

export function createGridChooser(choose) {
  const element = document.createElement("label");
  element.className = "grid-chooser";
  element.title = "Patches: rows × columns";
  const select = document.createElement("select");
  select.setAttribute("aria-label", "Patches, rows by columns");
  select.addEventListener("change", () => choose(Number(select.value)));
  element.append(select, createIcon("down"));
  let drawn = "";
  return {
    element,
    draw(grids, detail) {
      const offered = JSON.stringify(grids ?? []);
      if (offered !== drawn) {
        drawn = offered;
        select.replaceChildren(...(grids ?? []).map(optionOf));
      }
      element.hidden = (grids ?? []).length < 2;
      if (select.value !== String(detail)) select.value = String(detail);
    },
  };
}

function optionOf({ detail, grid: [rows, columns] }) {
  const option = document.createElement("option");
  [option.value, option.textContent] = [String(detail), `${rows} × ${columns}`];
  return option;
}
