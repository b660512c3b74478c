// Cross-attention: a patch of one picture asks the tokens of another, in the same head.
// data: what `crossed` of subject.js makes, and the setting `asks`: a place in the asking picture, sent by the drawing.

import { crossRow, largestIndex, openContainer, sumOf, unpack } from "../core/core.js";
import { patchFrom, patchText } from "../core/grid.js";
import { exposure } from "../core/light.js";
import { percent } from "../core/numbers.js";
import { decodeJpeg, outlinePatch } from "../drawing/dom.js";
import { lessonDrawing, sheetOf } from "../drawing/stage.js";
import { followPatches, heightFor, paintLit } from "./patch.js";

const MARKUP = `
  <div class="pair">
    <figure><figcaption><b>This picture asks</b> <span class="q">its queries</span></figcaption>
      <canvas data-ref="asking" tabindex="0" role="img"
          aria-label="The picture that asks. The arrow keys choose a patch."></canvas></figure>
    <figure><figcaption><b>This one answers</b> <span class="k">its keys and values</span></figcaption>
      <canvas data-ref="asked" role="img" aria-label="The picture that is asked, lit by the weights"></canvas></figure>
  </div>
  <p class="sum" data-ref="sum" aria-live="polite"></p>`;

function createCrossed(stage) {
  const state = Object.seal({ stage, ...stage.refs, id: null, header: null, packs: [], bitmaps: null, lit: {}, at: 0 });
  const choose = (patch) => {
    state.at = patch;
    stage.tell("asks", patchText(patch, state.packs[0].columns));
    stage.redraw();
  };
  followPatches(state.asking, () => ({ at: state.at, grid: state.packs[0].header.grid }), choose);
  return {
    async take(data) {
      const { header, section } = openContainer(data);
      const packs = ["asking", "asked"].map((name) => unpack(section(`${name}_pack`)));
      Object.assign(state, { id: header.id, header, packs, at: patchFrom(header.asks, ...packs[0].header.grid) });
      const bitmaps = await Promise.all(["asking", "asked"].map((name) => decodeJpeg(section(name))));
      if (state.id !== header.id) return;
      state.bitmaps = bitmaps;
      stage.redraw();
    },
    paint: () => state.bitmaps && paintCrossed(state),
  };
}

function paintCrossed(state) {
  const { packs, bitmaps, asking, at } = state;
  const { layer, head } = state.header;
  const [{ rows, columns, header }, { rows: askedRows, columns: askedColumns, prefixCount, tokens, ...pack }] = packs;
  const { context, width, height } = sheetOf(asking, heightFor(asking, header.size));
  context.drawImage(bitmaps[0], 0, 0, width, height);
  outlinePatch(context, at, [rows, columns], width, height);
  const row = crossRow(packs[0], packs[1], layer, head, packs[0].prefixCount + at);
  const domain = { low: 0, high: exposure(row, prefixCount, tokens) };
  const marks = { rows: askedRows, columns: askedColumns, mark: -1 };
  paintLit(state.lit, state.asked, bitmaps[1], pack.header.size, row, prefixCount, domain, marks);
  const best = largestIndex(row, prefixCount, tokens);
  state.stage.find("sum").innerHTML =
    `<b>Patch ${patchText(at, columns)}</b> gives most, ${percent(row[best])}, to patch ` +
    `${patchText(best - prefixCount, askedColumns)}; ${percent(sumOf(row, 0, prefixCount))} to tokens that are no ` +
    `patches. All ${packs[0].tokens} × ${tokens} weights: each row sums to 1.`;
}

export default lessonDrawing(createCrossed, MARKUP);
