// Runs the browser's engine under Node, for tests/test_engine.py: node pass.mjs JOB.json
// JOB is one of four: a pass, {weights, image: a file of float32 (3, H, W), grid, scale, cuts, zero: [[point, first
// column, columns]], out}; an inside, {weights, image, grid, cuts, inside: {layer, head, token}, out}; a resizing,
// {pixels: a file, 4 bytes a pixel, size, to, out}; grids, {fits:
// [[[width, height], native], …]}. `out` is a file to write. Prints JSON: {wall, cpu: ms of each run, bytes: of the
// kernels' memory}, or grids.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { readCuts } from "../../../playground/microscope/core/core.js";
import { gridFor } from "../../../playground/microscope/core/grid.js";
import { createResizer } from "../../../playground/microscope/engine/images.js";
import { inside } from "../../../playground/microscope/engine/inside.js";
import { createTensors, partOfMatrix } from "../../../playground/microscope/engine/tensors.js";
import { cutting, VisionTransformer } from "../../../playground/microscope/engine/vit.js";
import { MICROSCOPE } from "../support.mjs";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const bytesOfFile = (file) => new Uint8Array(readFileSync(file));
const bufferOf = (x) => Buffer.from(x.buffer, x.byteOffset, x.byteLength);

if (job.fits) console.log(JSON.stringify(job.fits.map((question) => gridFor(...question))));
else if (job.pixels) await resize(job);
else if (job.inside) await lookInside(job);
else await pass(job);

async function makeTensors() {
  return createTensors(await WebAssembly.compile(bytesOfFile(join(MICROSCOPE, "engine", "kernels.wasm"))));
}

async function resize({ pixels, size: [height, width], to: [toHeight, toWidth], out, band = 7 }) {
  const rows = bytesOfFile(pixels);
  const resizer = createResizer(await makeTensors(), width, height, toWidth, toHeight);
  for (let start = 0; start < rows.length; start += band * width * 4)
    resizer.band(rows.subarray(start, start + band * width * 4));
  writeFileSync(out, resizer.end());
}

// Sets columns of a matrix to zero at the given points of the pass, for example to switch a head off.
function setZeros(t, x, point, zero) {
  for (const [, column, columns] of zero.filter(([zeroPoint]) => zeroPoint === point))
    for (let row = 0; row < x.rows; row++) {
      const source = partOfMatrix(x, row, 1, column, columns);
      t.take(source, 0, source);
    }
  return x;
}

async function lookInside({ weights, image, grid, cuts = [], inside: place, out }) {
  const vit = new VisionTransformer(await makeTensors(), bytesOfFile(weights));
  const input = new Float32Array(bytesOfFile(image).buffer);
  const applyCuts = cutting(vit, grid, readCuts(cuts, { prefix: vit.config.prefix, columns: grid[1] }));
  const passOf = (at) => vit.layers(input, grid, { at: (point, x) => at(point, applyCuts(point, x)) });
  const { arrays, ...numbers } = inside(vit, passOf, place);
  writeFileSync(out, Buffer.concat(Object.values(arrays).map(bufferOf)));
  console.log(
    JSON.stringify({ ...numbers, sizes: Object.entries(arrays).map(([name, { length }]) => [name, length]) }),
  );
}

async function pass({ weights, image, grid, scale, cuts = [], zero = [], runs = 1, out }) {
  const t = await makeTensors();
  const vit = new VisionTransformer(t, bytesOfFile(weights));
  const input = new Float32Array(bytesOfFile(image).buffer);
  const applyCuts = cutting(vit, grid, readCuts(cuts, { prefix: vit.config.prefix, columns: grid[1] }));
  const options = {
    ...(scale !== undefined && { scale }),
    at: (point, x) => setZeros(t, applyCuts(point, x), point, zero),
  };
  const durations = { wall: [], cpu: [] };
  let layers, logits;
  for (let run = 0; run < runs; run++) {
    const [startTime, cpuBefore] = [performance.now(), process.cpuUsage()];
    layers = [];
    const layerIterator = vit.layers(input, grid, options);
    let step = await layerIterator.next();
    for (; !step.done; step = await layerIterator.next()) layers.push(step.value);
    logits = step.value;
    const usage = process.cpuUsage(cpuBefore);
    durations.wall.push(performance.now() - startTime);
    durations.cpu.push((usage.user + usage.system) / 1000);
  }
  const parts = ["q", "k", "norms", "features"].flatMap((name) => layers.map((layer) => bufferOf(layer[name])));
  writeFileSync(out, Buffer.concat([...parts, ...(logits ? [bufferOf(logits)] : [])]));
  console.log(JSON.stringify({ ...durations, bytes: t.bytes, points: vit.points() }));
}
