// The microscope as a component of Streamlit (playground/workbench/lens.py): it shows a trace, and gives the patch that
// was pressed back to Python as `patch`, "row,column".
import { createLens } from "../lens/lens.js";

export default function lensOfStreamlit({ data, parentElement, setStateValue }) {
  const mounted = (parentElement.__attention ??= begin(parentElement.querySelector("[data-lens]"), data.height));
  mounted.tell = setStateValue;
  mounted.show(data);
  return () => {
    mounted.lens.destroy();
    delete parentElement.__attention;
  };
}

function begin(place, height) {
  let [shown, patch] = [{ id: "", numbers: "", picture: "" }, null];
  const source = {
    offers: [],
    layers: async () => bytesOf(shown.numbers),
    picture: async () => createImageBitmap(new Blob([bytesOf(shown.picture)])),
  };
  const onView = ({ query, locked }) => {
    if (!locked || query === patch) return;
    patch = query;
    mounted.tell("patch", query);
  };
  const lens = createLens(place, { source, ui: { height, bare: true }, link: null, onView });
  const mounted = {
    lens,
    tell: null,
    show({ id, title, numbers, picture, view }) {
      if (id === shown.id) return lens.update({ view });
      shown = { id, numbers, picture };
      lens.show({ main: { id, title, picture: { id, title: "" } }, view });
    },
  };
  return mounted;
}

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
