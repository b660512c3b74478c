// Runs onnxruntime-web under Node, for benchmarks/engine.py: node peer.mjs JOB.json. JOB is {model: an .onnx file,
// library: onnxruntime's folder, size: pixels of a side, threads, runs}. Prints {wall, cpu: ms of each run} as JSON.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { model, library, size, threads, runs } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const ort = await import(pathToFileURL(join(library, "dist", "ort.node.min.mjs")));
ort.env.wasm.numThreads = threads;
const session = await ort.InferenceSession.create(readFileSync(model), { executionProviders: ["wasm"] });
const numbers = Float32Array.from({ length: 3 * size * size }, (_, i) => Math.sin(i));
const durations = { wall: [], cpu: [] };
for (let run = 0; run < runs; run++) {
  const [startTime, cpuBefore] = [performance.now(), process.cpuUsage()];
  await session.run({ [session.inputNames[0]]: new ort.Tensor("float32", numbers, [1, 3, size, size]) });
  const usage = process.cpuUsage(cpuBefore);
  durations.wall.push(performance.now() - startTime);
  durations.cpu.push((usage.user + usage.system) / 1000);
}
console.log(JSON.stringify(durations));
process.exit(); // the library's threads would keep the process alive
