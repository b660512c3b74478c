// While Streamlit's page is still being built, all that the first picture needs is on its way: the server names this
// script in the page (ui/ahead.py), so that it runs first.

import { headWanted } from "../lens/bringing.js";
import { readAddress } from "./address.js";
import { loadCatalogue } from "./catalogue.js";
import { openedBy } from "./choice.js";
import { tracesOf } from "./opening.js";
import { ownPictures } from "./own.js";
import { source } from "./source.js";

const EARLY_SCRIPT = "script[data-samples]"; // with the address of the list of samples
const MICROSCOPE = ["", "microscope"]; // how its address may end

export async function fetchAhead() {
  const named = document.querySelector(EARLY_SCRIPT);
  if (!named) return;
  await Promise.all([loadCatalogue(named.dataset.samples), ownPictures.read()]);
  if (!MICROSCOPE.includes(location.pathname.split("/").pop())) return;
  const found = readAddress();
  const { main } = tracesOf(openedBy(found.choice));
  await source.beginWith(main, (trace) => headWanted({ ...trace.opens, ...found.view }));
}
