// Files of the present view for pages without a server: a picture, a figure, the numbers, an interactive page, a link.
// Each file says where it comes from and how the app makes it again. Only the app makes PDFs.
import { numbersFile } from "../core/container.js";
import { FIRST_WAY } from "../core/ways.js";
import { make } from "../drawing/dom.js";
import { downloadFile } from "../lens/saving.js";
import { linkTo, viewNow, visit } from "./address.js";
import { choice } from "./choice.js";
import { wordsOfTrouble } from "./http.js";
import { ownPictures } from "./own.js";
import { readPageData } from "./pagedata.js";

const PNG_FACTOR = 4; // the PNG's pixels for each CSS pixel
const TAKE_AWAY_KINDS = {
  png: { words: "A picture (.png)", type: "image/png" },
  svg: { words: "A figure with text as text (.svg)", type: "image/svg+xml" },
  npz: { words: ".npz", type: "application/octet-stream", numbers: true },
  csv: { words: ".csv", type: "text/csv", numbers: true },
  json: { words: ".json", type: "application/json", numbers: true },
  html: { words: "A page that stays alive (.html)", type: "text/html" },
};
const NO_NUMBERS = "What is on view is no number of each patch.";
const NOT_ALIVE = "A page that stays alive shows what a patch looks at: look at a patch's weights first.";

export function fillTakeAway(box, { done: onDone, share }) {
  const status = make("p", { className: "note", role: "status" });
  const makeButton = (words, onclick, className = "wide") => make("button", { className, onclick }, words);
  const save = (kind) =>
    fileOf(kind).then(
      (file) => [downloadFile(file), onDone()],
      (error) => (status.textContent = wordsOfTrouble(error)),
    );
  const buttonsFor = (kinds) => kinds.map((kind) => makeButton(TAKE_AWAY_KINDS[kind].words, () => save(kind)));
  const tables = ["npz", "csv", "json"].map((kind) => makeButton(kind, () => save(kind), ""));
  const numbers = make("p", "take-numbers", "Its numbers: ", ...tables);
  const link = makeButton("Copy the link to this view", async () => {
    const isCopied = await navigator.clipboard.writeText(linkTo(viewNow())).then(
      () => true,
      () => false,
    );
    link.textContent = isCopied ? "Copied" : "This browser does not let a page copy: take the address above";
  });
  box.append(...buttonsFor(["png", "svg"]), numbers, ...buttonsFor(["html"]));
  if (share) box.append(makeButton("A loop, or a still picture", share));
  box.append(link, status, make("p", "note", pdfSentence()));
}

const failureOf = (sentence) => Object.assign(new Error(sentence), { says: sentence });

async function fileOf(kind) {
  const { type, numbers: areNumbers } = TAKE_AWAY_KINDS[kind];
  const name = `attention-${fileStem()}.${kind}`;
  const metadata = metadataOfView(visit.lens.numbers(), `figure.${kind}`);
  if (kind === "png")
    return new File([await new Promise((resolve) => visit.picture(PNG_FACTOR).toBlob(resolve, type))], name, { type });
  if (kind === "svg") return new File([visit.lens.figure(metadata)], name, { type });
  if (areNumbers) {
    const numbers = visit.lens.numbers();
    if (!numbers) throw failureOf(NO_NUMBERS);
    const { model } = choice.now;
    const { grid, tokens, values, map } = numbers;
    const source = {
      model,
      image: pictureName(),
      input: numbers.input,
      patch_size: numbers.patch,
      predictions: numbers.predictions,
    };
    const table = { about: source, grid, tokens, maps: [map], values: [values] };
    return new File([numbersFile(kind, metadata, table)], name, { type });
  }
  const { see } = visit.lens;
  if (!see?.canShare("page")) throw failureOf(NOT_ALIVE);
  return new File([await see.sharedPage()], name, { type });
}

const pictureName = () => {
  const { sample, mine: ownId } = choice.now;
  return sample ?? ownPictures.list.find(({ id }) => id === ownId)?.title ?? "picture";
};
const fileStem = () => `${choice.now.sample ?? "mine"}-${choice.now.model}`;

// A file's metadata: model, picture, view and command, as in the app's files (playground/figures/provenance.py).
function metadataOfView(numbers, output) {
  const { model } = choice.now;
  const { map, input, dim } = numbers ?? {};
  const metadata = { model, image: pictureName() };
  if (map) {
    const { layer, head, patch, what, direction, scale } = map;
    Object.assign(metadata, { input: input.join("x"), layout: "head", layer: String(layer) });
    if (head !== undefined) metadata.head = String(head);
    if (patch) metadata.patch = patch;
    metadata.shows = direction ? `${what}, ${direction}` : what;
    if (scale !== undefined) metadata.scale = scaleInWords(scale, dim);
  }
  const appVersion = `Attention Playground ${readPageData().version}`;
  return { ...metadata, "made by": appVersion, ...(choice.now.sample && { command: commandOf(map, output) }) };
}

function scaleInWords(scale, dim) {
  if (Math.abs(scale - dim ** -0.5) < 1e-9) return `1/√${dim}`;
  return `${scale === 1 ? "none" : Number(scale.toPrecision(3))}, this layer only`;
}

// The command of the app that makes this figure.
function commandOf(map, output) {
  const { sample, mine, model, detail } = choice.now;
  const { layer, head, patch, what, direction } = map ?? {};
  const { scale } = viewNow();
  const flags = { model, layer, head, patch };
  if (detail > 1 && map) flags.size = visit.lens.numbers().input.join("x");
  if (what && what !== FIRST_WAY) flags.what = what;
  if (direction === "column") flags.direction = direction;
  if (scale && scale !== "on") flags.scale = scale;
  const givenFlags = Object.entries(flags).filter(([, value]) => value !== undefined);
  const options = givenFlags.map(([name, value]) => `--${name} ${value}`).join(" ");
  return `attention-playground figure ${mine ? "YOUR-PICTURE" : (sample ?? "")} ${options} -o ${output}`;
}

function pdfSentence() {
  const map = visit.lens?.numbers()?.map;
  return `For a PDF, or another layout, in the app: ${commandOf(map, "figure.pdf")}`;
}
