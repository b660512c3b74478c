// The functions of tensors.js for a GPU's memory; read() returns promises. One buffer mirrors the kernels' memory: a
// network on the GPU is a copy of the same bytes at the same addresses. Shaders add in 32-bit floats. A failure
// (memory, a lost device) rejects read(), and computer.js goes on without a GPU.

import { ALIGN } from "../../core/container.js";
import { GATES } from "../tensors.js";

const WORD = 4; // bytes
const CALL_BYTES = 256; // from one call's arguments to the next's, for WebGPU
const MOST_CALLS = 512; // shader calls that are sent together
const SPARE_BYTES = 2 ** 24; // free memory at first
const TILE = 64; // rows and columns that a group of threads computes
const FLOATS = 0; // a product's second matrix: floats (columns, inner)
const TRANSPOSED = 1; // or floats (inner, columns)
const CODES = 2; // or 8-bit codes (columns, inner), a gain for each 32 of a row

// `call` holds all addresses, in 4-byte numbers. The memory is declared as integers: codes are no floats.
const PRELUDE = `
struct Call {
  x: u32, xStep: u32, y: u32, yStep: u32, out: u32, outStep: u32, gains: u32, bias: u32,
  rows: u32, inner: u32, columns: u32, adds: u32, first: f32, second: f32,
}
@group(0) @binding(0) var<uniform> call: Call;
@group(0) @binding(1) var<storage, read_write> memory: array<u32>;
override WHAT: u32 = 0;
fn number(at: u32) -> f32 { return bitcast<f32>(memory[at]); }
fn put(at: u32, x: f32) { memory[at] = bitcast<u32>(x); }
`;

// out (rows, columns) = x (rows, inner) · y + bias. Each thread computes 4 × 4 numbers of its group's 64 × 64.
const PRODUCT = `
const DEEP = 16u;
var<workgroup> left: array<f32, 1024>;
var<workgroup> right: array<f32, 1024>;
fn weight(n: u32, k: u32) -> f32 {
  if (n >= call.columns || k >= call.inner) { return 0; }
  if (WHAT == ${FLOATS}) { return number(call.y + n * call.yStep + k); }
  if (WHAT == ${TRANSPOSED}) { return number(call.y + k * call.yStep + n); }
  let place = n * call.inner + k;
  let code = extractBits(bitcast<i32>(memory[call.y + place / 4]), 8 * (place % 4), 8u);
  return f32(code) * number(call.gains + n * ((call.inner + 31) / 32) + k / 32);
}
fn entry(row: u32, k: u32) -> f32 {
  if (row >= call.rows || k >= call.inner) { return 0; }
  return number(call.x + row * call.xStep + k);
}
@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) tile: vec3u, @builtin(local_invocation_id) me: vec3u,
        @builtin(local_invocation_index) index: u32) {
  let row = tile.y * ${TILE};
  let column = tile.x * ${TILE};
  var sums: array<vec4f, 4>;
  for (var first = 0u; first < call.inner; first += DEEP) {
    for (var i = index; i < 1024; i += 256) {
      let k = i % DEEP;
      let n = i / DEEP;
      left[k * ${TILE} + n] = entry(row + n, first + k);
      if (WHAT == ${TRANSPOSED}) { right[i] = weight(column + i % ${TILE}, first + i / ${TILE}); }
      else { right[k * ${TILE} + n] = weight(column + n, first + k); }
    }
    workgroupBarrier();
    for (var k = 0u; k < DEEP; k++) {
      let a = k * ${TILE} + 4 * me.y;
      let b = k * ${TILE} + 4 * me.x;
      let four = vec4f(right[b], right[b + 1], right[b + 2], right[b + 3]);
      for (var r = 0u; r < 4; r++) { sums[r] += left[a + r] * four; }
    }
    workgroupBarrier();
  }
  for (var r = 0u; r < 4; r++) {
    for (var c = 0u; c < 4; c++) {
      let y = row + 4 * me.y + r;
      let x = column + 4 * me.x + c;
      if (y >= call.rows || x >= call.columns) { continue; }
      let at = call.out + y * call.outStep + x;
      if (call.adds == 1) { put(at, number(at) + sums[r][c]); }
      else if (call.adds == 2) { put(at, number(call.bias + x) + sums[r][c]); }
      else { put(at, sums[r][c]); }
    }
  }
}`;

// Sums and maxima of a row, computed by 64 threads together.
const ROW_REDUCTION = `
var<workgroup> parts: array<f32, 64>;
fn together(me: u32, mine: f32, largest: bool) -> f32 {
  parts[me] = mine;
  for (var half = 32u; half > 0; half /= 2) {
    workgroupBarrier();
    if (me < half) {
      parts[me] = select(parts[me] + parts[me + half], max(parts[me], parts[me + half]), largest);
    }
  }
  let all = workgroupUniformLoad(&parts[0]);
  return all;
}`;

const SOFTMAX = `
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) row: vec3u, @builtin(local_invocation_index) me: u32) {
  let at = call.x + row.x * call.columns;
  var most = -3.4e38;
  for (var i = me; i < call.columns; i += 64) { most = max(most, number(at + i)); }
  most = together(me, most, true);
  var sum = 0.0;
  for (var i = me; i < call.columns; i += 64) {
    let e = exp(number(at + i) - most);
    put(at + i, e);
    sum += e;
  }
  sum = together(me, sum, false);
  for (var i = me; i < call.columns; i += 64) { put(at + i, number(at + i) / sum); }
}`;

const NORM = `
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) row: vec3u, @builtin(local_invocation_index) me: u32) {
  let at = call.x + row.x * call.columns;
  let width = f32(call.columns);
  var sum = 0.0;
  for (var i = me; i < call.columns; i += 64) { sum += number(at + i); }
  let mean = together(me, sum, false) / width;
  sum = 0.0;
  for (var i = me; i < call.columns; i += 64) { sum += (number(at + i) - mean) * (number(at + i) - mean); }
  let inverse = inverseSqrt(together(me, sum, false) / width + call.first);
  for (var i = me; i < call.columns; i += 64) {
    let x = (number(at + i) - mean) * inverse;
    put(call.out + row.x * call.columns + i, x * number(call.gains + i) + number(call.bias + i));
  }
}`;

// Functions of single numbers; WHAT is an index of this list. For GELU and the gates see kernels.c.
const MAP_NAMES = ["take", "add", "multiply", "gelu", "gate", "relu", "tanh", "rotate"];
const MAP_CODE = `
fn gelu(x: f32) -> f32 {
  let size = abs(x) * 0.70710678;
  let t = 1 / (1 + 0.3275911 * size);
  let p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return 0.5 * x * (1 + sign(x) * (1 - p * exp(-size * size)));
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) me: vec3u) {
  if (me.x >= call.columns) { return; }
  let place = call.x + me.y * call.xStep + me.x;
  let to = call.out + me.y * call.outStep + me.x;
  let other = call.y + me.y * call.yStep + me.x;
  let x = number(place);
  switch (WHAT) {
    case 0u: { put(to, x * call.first); }
    case 1u: { put(to, x + number(other)); }
    case 2u: { put(to, x * number(other)); }
    case 3u: { put(to, gelu(x)); }
    case 4u: { put(to, x / (1 + exp(min(-x * (call.first + call.second * x * x), 87.0)))); }
    case 5u: { put(to, max(x, 0.0)); }
    case 6u: { put(to, tanh(clamp(x, -10.0, 10.0))); }
    default: {
      let second = number(place + call.columns);
      let sin = number(other);
      let cos = number(call.gains + me.y * call.yStep + me.x);
      put(to, x * cos - second * sin);
      put(to + call.columns, second * cos + x * sin);
    }
  }
}`;

const ROOT_OF_DOTS = `
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) me: vec3u) {
  if (me.x >= call.rows) { return; }
  var dot = 0.0;
  for (var i = 0u; i < call.columns; i++) {
    dot += number(call.x + me.x * call.xStep + i) * number(call.y + me.x * call.yStep + i);
  }
  put(call.out + me.x, sqrt(max(dot, 0.0)));
}`;

// A device with its shaders, or null if there is none. `gpu`: navigator.gpu
async function openDevice(gpu) {
  const adapter = await gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) return null;
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({ requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
  const entry = (binding, buffer) => ({ binding, visibility: 4, buffer }); // 4: GPUShaderStage.COMPUTE
  const layout = device.createBindGroupLayout({
    entries: [entry(0, { type: "uniform", hasDynamicOffset: true }), entry(1, { type: "storage" })],
  });
  const pipelineLayout = device.createPipelineLayout({ bindGroupLayouts: [layout] });
  const pipelineOf = async (code, variant = 0) => {
    const module = device.createShaderModule({ code: PRELUDE + code });
    const compute = { module, entryPoint: "main", constants: { WHAT: variant } };
    return device.createComputePipelineAsync({ layout: pipelineLayout, compute });
  };
  const pipelines = (code, variants) => Promise.all(variants.map((variant) => pipelineOf(code, variant)));
  const [products, maps, [softmax, norm, rootOfDots]] = await Promise.all([
    pipelines(PRODUCT, [FLOATS, TRANSPOSED, CODES]),
    pipelines(
      MAP_CODE,
      MAP_NAMES.map((_, index) => index),
    ),
    Promise.all([ROW_REDUCTION + SOFTMAX, ROW_REDUCTION + NORM, ROOT_OF_DOTS].map((code) => pipelineOf(code))),
  ]);
  return { device, layout, products, maps, softmax, norm, rootOfDots };
}

// bytes: the kernels' memory, which is copied to the same addresses.
function gpuTensors({ device, layout, products, maps, softmax, norm, rootOfDots }, bytes) {
  const [STORAGE, UNIFORM, COPIES, READ] = [0x80, 0x40, 0x0c, 0x09];
  const buffer = (size, usage) => device.createBuffer({ size, usage });
  const largest = Math.min(device.limits.maxBufferSize, device.limits.maxStorageBufferBindingSize);
  const calls = new Uint32Array((MOST_CALLS * CALL_BYTES) / WORD);
  const floats = new Float32Array(calls.buffer);
  const watch = () => ["validation", "out-of-memory"].forEach((kind) => device.pushErrorScope(kind));
  watch();
  const callBuffer = buffer(calls.byteLength, UNIFORM | COPIES);
  let top = bytes.byteLength;
  let [memory, group] = [null, null];
  let [encoder, pass, callCount] = [null, null, 0];

  function resize(size) {
    if (size > largest) throw new Error("This GPU has no room for this network.");
    memory = buffer(size, STORAGE | COPIES);
    const entries = [
      { binding: 0, resource: { buffer: callBuffer, size: CALL_BYTES } },
      { binding: 1, resource: { buffer: memory } },
    ];
    group = device.createBindGroup({ layout, entries });
  }

  function submit() {
    pass?.end();
    if (callCount) device.queue.writeBuffer(callBuffer, 0, calls, 0, (callCount * CALL_BYTES) / WORD);
    if (encoder) device.queue.submit([encoder.finish()]);
    [encoder, pass, callCount] = [null, null, 0];
  }

  const copier = () => {
    pass?.end();
    pass = null;
    encoder ??= device.createCommandEncoder();
    return encoder;
  };

  function allocate(size) {
    const address = Math.ceil(top / ALIGN) * ALIGN;
    top = address + size;
    if (top > memory.size) {
      const former = memory;
      submit();
      resize(Math.ceil(Math.max(top, Math.min(2 * memory.size, largest)) / ALIGN) * ALIGN);
      copier().copyBufferToBuffer(former, 0, memory, 0, former.size);
      submit();
      former.destroy();
    }
    return address;
  }

  // places: addresses in bytes; sizes in numbers; both named as in Call; across, down: groups of threads along x, y.
  function run(pipeline, places, sizes, across, down = 1, first = 0, second = 0) {
    if (callCount === MOST_CALLS) submit();
    encoder ??= device.createCommandEncoder();
    pass ??= encoder.beginComputePass();
    const [start, { x, y = 0, out = x, gains = 0, bias = 0 }] = [(callCount * CALL_BYTES) / WORD, places];
    const { xStep = 0, yStep = 0, outStep = xStep, rows, inner = 0, columns, adds = 0 } = sizes;
    const [xAt, yAt, outAt, gainsAt, biasAt] = [x, y, out, gains, bias].map((place) => place / WORD);
    calls.set([xAt, xStep, yAt, yStep, outAt, outStep, gainsAt, biasAt, rows, inner, columns, adds], start);
    floats.set([first, second], start + 12);
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group, [callCount++ * CALL_BYTES]);
    pass.dispatchWorkgroups(across, down);
  }

  const matrix = (rows, columns) => ({ at: allocate(WORD * rows * columns), rows, columns, step: columns });
  const groups = (threads, size = 64) => Math.ceil(threads / size);

  function multiply(kind, x, w, bias, columns, out, adds) {
    const places = { x: x.at, y: w.at, out: out.at, gains: w.gains, bias: bias?.at };
    const sizes = { xStep: x.step, yStep: w.step, outStep: out.step, rows: x.rows, inner: x.columns, columns, adds };
    run(products[kind], places, sizes, groups(columns, TILE), groups(x.rows, TILE));
  }

  function oneByOne(name, x, y, out, factors = []) {
    const sizes = { xStep: x.step, yStep: y?.step, outStep: out.step, rows: x.rows, columns: x.columns };
    const places = { x: x.at, y: y?.at, out: out.at, gains: y?.cos };
    run(maps[MAP_NAMES.indexOf(name)], places, sizes, groups(x.columns), x.rows, ...factors);
    return out;
  }

  resize(Math.min(largest, Math.ceil((top + SPARE_BYTES) / ALIGN) * ALIGN));
  device.queue.writeBuffer(memory, 0, bytes);

  return {
    engine: "WebGPU",
    mark: () => top,
    backTo: (mark) => {
      top = mark;
    },
    matrix,
    put(values, rows, columns) {
      const x = matrix(rows, columns);
      submit(); // pending calls may read the old content, so they go first
      device.queue.writeBuffer(memory, x.at, values);
      return x;
    },
    async read({ at, rows, columns }) {
      const copy = buffer(WORD * rows * columns, READ);
      copier().copyBufferToBuffer(memory, at, copy, 0, copy.size);
      submit();
      const errors = [device.popErrorScope(), device.popErrorScope()];
      watch();
      await copy.mapAsync(1);
      for (const error of await Promise.all(errors)) if (error) throw error;
      const values = new Float32Array(copy.getMappedRange()).slice();
      copy.destroy();
      return values;
    },
    linear(x, w, bias = null, out = matrix(x.rows, w.rows)) {
      multiply(w.gains ? CODES : FLOATS, x, w, bias, w.rows, out, bias ? 2 : 0);
      if (w.fine) multiply(CODES, x, w.fine, null, w.fine.rows, out, 1);
      return out;
    },
    product(x, w, out = matrix(x.rows, w.columns)) {
      multiply(TRANSPOSED, x, w, null, w.columns, out, 0);
      return out;
    },
    norm(x, gain, bias, eps, out = matrix(x.rows, x.columns)) {
      const places = { x: x.at, out: out.at, gains: gain.at, bias: bias.at };
      run(norm, places, { rows: x.rows, columns: x.columns }, x.rows, 1, eps);
      return out;
    },
    softmax: (x) => run(softmax, { x: x.at }, { rows: x.rows, columns: x.columns }, x.rows),
    activate: (x, name) => oneByOne(name in GATES ? "gate" : name, x, null, x, GATES[name]),
    add: (x, y) => oneByOne("add", x, y, x),
    multiply: (x, y) => oneByOne("multiply", x, y, x),
    rotate(x, { sin, cos }) {
      const half = { ...x, columns: x.columns / 2 };
      oneByOne("rotate", half, { ...sin, cos: cos.at }, half);
    },
    take: (x, times = 1, out = matrix(x.rows, x.columns)) => oneByOne("take", x, null, out, [times]),
    rootOfDots(a, b, out = matrix(1, a.rows)) {
      const sizes = { xStep: a.step, yStep: b.step, rows: a.rows, columns: a.columns };
      run(rootOfDots, { x: a.at, y: b.at, out: out.at }, sizes, groups(a.rows));
      return out;
    },
    free: () => [memory, callBuffer].map((buffer) => buffer.destroy()),
  };
}

// ------------------------------------------------------------------------------------------------- which one computes

const MOST_DIFFERENCE = 1e-3; // relative difference: a GPU that differs more is not used
const LONGEST_LAYER = 1000; // ms: a GPU with slower layers is not used

// Runs networks on the GPU if that is right and faster. isForced: for tests.
export function createGpuPasses(gpu, isForced = false) {
  const copies = new Map(); // network → its copy
  let opening = null; // a promise of a device or null
  let [isUsed, isTried, isOpen] = [isForced, isForced || !gpu, false];

  function open() {
    const promise = openDevice(gpu).catch(() => null);
    promise.then(() => {
      isOpen = true;
    });
    return promise;
  }
  async function copyOf(vit) {
    opening ??= open();
    const device = await opening;
    if (!device) return null;
    if (!copies.has(vit)) copies.set(vit, vit.on(gpuTensors(device, vit.t.copy(WORD * Math.ceil(vit.end / WORD)))));
    return copies.get(vit);
  }
  const forget = (vit) => {
    copies.get(vit)?.t.free();
    copies.delete(vit);
  };
  async function giveUp() {
    [isUsed, isTried] = [false, true];
    for (const vit of [...copies.keys()]) forget(vit);
    const device = await opening;
    device?.device.destroy();
    opening = Promise.resolve(null);
  }

  return {
    forget,
    giveUp,
    at: async (vit) => (isUsed ? await copyOf(vit) : null),
    // Measures the GPU once, after the kernels' pass, so that nobody waits for the device.
    async measure(vit, image, grid) {
      if (isTried) return;
      opening ??= open();
      if (!isOpen) return;
      isTried = true;
      try {
        const copy = await copyOf(vit);
        if (!copy) return;
        await timed(firstLayer(copy, image, grid)); // warms up
        const gpuRun = await timed(firstLayer(copy, image, grid));
        const cpuRun = await firstLayer(vit, image, grid);
        isUsed = gpuRun.ms < cpuRun.ms && difference(gpuRun.layer, cpuRun.layer) < MOST_DIFFERENCE;
      } catch {}
      if (!isUsed) await giveUp();
    },
  };
}

const timed = (layer) =>
  Promise.race([
    layer,
    new Promise((_, reject) => setTimeout(() => reject(new Error("This GPU is slow.")), LONGEST_LAYER)),
  ]);

async function firstLayer(vit, image, grid) {
  const start = performance.now();
  const layers = vit.layers(image, grid);
  const { value } = await layers.next();
  await layers.return();
  return { layer: value, ms: performance.now() - start };
}

function difference(gpu, cpu) {
  const parts = ["q", "k", "features"].map((part) => {
    const largest = cpu[part].reduce((max, x) => Math.max(max, Math.abs(x)), 1e-9);
    return cpu[part].reduce((max, x, i) => Math.max(max, Math.abs(x - gpu[part][i])), 0) / largest;
  });
  return parts.some(Number.isNaN) ? Infinity : Math.max(...parts);
}
