// The microscope as a component of Streamlit (playground/workbench/lens.py): it shows a trace, and gives the patch that
// was pressed back to Python as `patch`, "row,column".
import { createLens } from "../lens/lens.js";

export default function lensOfStreamlit({ data, parentElement, setStateValue }) {
  const { id, title, numbers, picture, view, height } = data;
  const mounted = (parentElement.__attention ??= begin(
    parentElement.querySelector("[data-lens]"),
    height,
    setStateValue,
  ));
  mounted.tell = setStateValue;
  if (mounted.id === id) mounted.lens.update({ view });
  else mounted.show({ id, title, numbers, picture, view });
  return () => {
    mounted.lens.destroy();
    delete parentElement.__attention;
  };
}

function begin(place, height, tell) {
  const mounted = { id: "", content: null, tell, patch: null, lens: null, show: null };
  mounted.lens = createLens(place, {
    source: {
      offers: [],
      layers: async ({ id }) => bytesOf(mounted.content.get(id).numbers),
      picture: async ({ id }) => createImageBitmap(new Blob([bytesOf(mounted.content.get(id).picture)])),
    },
    ui: { height, bare: true },
    link: null,
    onView: ({ query, locked }) => {
      if (!locked || query === mounted.patch) return;
      mounted.patch = query;
      mounted.tell("patch", query);
    },
  });
  mounted.content = new Map();
  mounted.show = ({ id, title, numbers, picture, view }) => {
    mounted.id = id;
    mounted.content = new Map([[id, { numbers, picture }]]);
    mounted.lens.show({ main: { id, title, picture: { id, title: "" } }, view });
  };
  return mounted;
}

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
