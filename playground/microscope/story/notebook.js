// Writes a Jupyter notebook that computes the story's row from the head's query and keys, and compares the row with the
// one in the picture. The notebook needs one pip install; tests/test_story.py runs it. No DOM.
import { layerOf } from "../core/core.js";

const LETTERS_IN_LINE = 96; // letters of base64 per line

// facts, code: from factsOfStory and codeOf in story/scenes.js; photograph: a data URL or "".
export function notebookOf(facts, { model, code, photograph = "" }) {
  const { pack, layer, head, patch, row } = facts;
  const [rowNumber, columnNumber] = [Math.floor(patch / pack.columns), patch % pack.columns];
  const keys = headKeys(facts);
  const picture = photograph && `\n\n![the photograph](${photograph})`;
  const place = `layer ${layer}, head ${pack.headNumbers[head]}, of ${model}`;
  const cells = [
    proseCell(`# One row of attention

The square in row ${rowNumber}, column ${columnNumber} of a photograph asks in ${place}. Its query and the keys of all \
${pack.tokens} tokens are numbers of this very picture; below they become the row that the story has drawn.${picture}`),
    codeCell("%pip install torch"),
    codeCell(
      [
        "import base64",
        "import torch",
        "",
        "def numbers(text):",
        "    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float32)",
        "",
        `q = numbers(${numbersAsCode(facts.pair.q)})`,
        `k = numbers(${numbersAsCode(keys)}).reshape(${pack.tokens}, ${pack.dim})`,
        `drawn = numbers(${numbersAsCode(row)})`,
      ].join("\n"),
    ),
    proseCell(`## The row

A score is a query times a key, divided by the root of their ${pack.dim} numbers; a softmax makes shares of them.`),
    codeCell(`scores = k @ q / len(q) ** 0.5
row = scores.softmax(0)
print(f"largest difference from the row that was drawn: {float((row - drawn).abs().max()):.0e}")
assert torch.allclose(row, drawn, atol=1e-5)`),
    codeCell(`shares, tokens = row.topk(5)
for share, token in zip(shares.tolist(), tokens.tolist()):
    patch = token - ${pack.prefixCount}  # the first ${pack.prefixCount} tokens are no patches
    place = f"row {patch // ${pack.columns}}, column {patch % ${pack.columns}}"
    print(f"{100 * share:.1f} %", place if patch >= 0 else f"token {token}")`),
    proseCell(`## Without the division

The volume knob of scene 8: the same scores, louder.`),
    codeCell(`loud = (k @ q).softmax(0)
print(f"largest share: {100 * float(row.max()):.1f} % with the division, {100 * float(loud.max()):.1f} % without")`),
    proseCell(`## From the photograph

Where the Attention Playground is installed, this computes the same from the picture itself:

\`\`\`python
${code}
\`\`\``),
  ];
  return {
    cells,
    metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
    nbformat: 4,
    nbformat_minor: 5,
  };
}

function headKeys({ pack, layer, head }) {
  const { tokens, dim } = pack;
  return Float32Array.from(layerOf(pack, layer).k.subarray(head * tokens * dim, (head + 1) * tokens * dim));
}

// The numbers as base64, in a Python string over several lines.
function numbersAsCode(values) {
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  const lines = btoa(letters).match(new RegExp(`.{1,${LETTERS_IN_LINE}}`, "g")) ?? [];
  return `"""\n${lines.join("\n")}"""`;
}

let cellNumber = 0;
const makeCell = (kind, text, fields) => ({
  id: `cell-${++cellNumber}`,
  cell_type: kind,
  metadata: {},
  ...fields,
  source: text,
});
const proseCell = (text) => makeCell("markdown", text, {});
const codeCell = (text) => makeCell("code", text, { execution_count: null, outputs: [] });

// The largest difference between a computed row and the one in the picture.
export const largestError = (row, drawnRow) =>
  row.reduce((largest, share, index) => Math.max(largest, Math.abs(share - drawnRow[index])), 0);
