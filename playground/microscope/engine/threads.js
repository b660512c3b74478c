// Runs the kernels on several threads, where a page may share memory. Helpers are workers with the same kernels on the
// same memory, each with its own stack. A slow kernel is divided by columns or rows; the caller computes the first part
// and waits for the others. An idle helper sleeps.

const MOST_PAGES = 65_535; // of memory, as in workshop/kernels.py
const STACK_BYTES = 32_768; // a helper's stack
const FLOAT_BYTES = 4;
const SHORT_BYTES = 2;
const COLUMNS_TOGETHER = 8; // WIDE in kernels.c
const WITH_ONE_GAIN = 32; // numbers that share a gain, as in kernels.c
const LEAST_PRODUCT = 50_000; // multiplications: smaller products are not divided
const LEAST_COUNT = 4096; // numbers: smaller kernels are not divided, except products
const MOST_THREADS = 4;
const SPINS = 4000; // looks for work before a thread sleeps, as long as a usual pause of kernels
const MOST_WAITED = 20_000; // ms for one kernel
const BOARD_BYTES = 256; // bytes of a helper's message: integers, then arguments
const BELL_AT = { asked: 0, done: 1, which: 2, count: 3, awake: 4 };
const DIVIDED_KERNELS = ["product", "to_integers", "product_of_codes", "softmax", "norm", "gelu"];

// A copy of the kernels' code that imports shared memory: a flag is set.
export function withSharedMemory(bytes) {
  const sharedBytes = Uint8Array.from(bytes);
  const name = [3, ...new TextEncoder().encode("env"), 6, ...new TextEncoder().encode("memory"), 2, 1];
  const start = sharedBytes.findIndex((_, i) => name.every((byte, n) => sharedBytes[i + n] === byte));
  sharedBytes[start + name.length - 1] = 3;
  return sharedBytes;
}

// The number of integers that to_integers (kernels.c) writes for a row, padding included.
export const paddedLength = (inner) => Math.ceil(inner / WITH_ONE_GAIN) * WITH_ONE_GAIN;

// How to divide each kernel: part(first, count) returns the arguments of a part.
const dividedParts = {
  product: ([a, aStep, b, bStep, transposed, bias, rows, inner, columns, out, outStep]) => ({
    count: columns,
    grain: COLUMNS_TOGETHER,
    isWorth: rows * inner * columns >= LEAST_PRODUCT,
    part: (first, count) => [
      ...[
        a,
        aStep,
        b + FLOAT_BYTES * first * (transposed ? 1 : bStep),
        bStep,
        transposed,
        bias && bias + FLOAT_BYTES * first,
      ],
      ...[rows, inner, count, out + FLOAT_BYTES * first, outStep],
    ],
  }),
  to_integers: ([a, aStep, rows, inner, integers, units]) => ({
    count: rows,
    grain: 1,
    isWorth: rows * inner >= LEAST_COUNT,
    part: (first, count) => [
      ...[a + FLOAT_BYTES * first * aStep, aStep, count, inner],
      ...[integers + SHORT_BYTES * first * paddedLength(inner), units + FLOAT_BYTES * first],
    ],
  }),
  product_of_codes: ([integers, units, codes, gains, bias, rows, inner, columns, out, outStep]) => ({
    count: columns,
    grain: COLUMNS_TOGETHER,
    isWorth: rows * inner * columns >= LEAST_PRODUCT,
    part: (first, count) => [
      ...[integers, units, codes + first * inner, gains + (FLOAT_BYTES * first * paddedLength(inner)) / WITH_ONE_GAIN],
      ...[bias && bias + FLOAT_BYTES * first, rows, inner, count, out + FLOAT_BYTES * first, outStep],
    ],
  }),
  softmax: ([x, rows, columns]) => ({
    count: rows,
    grain: 1,
    isWorth: rows * columns >= LEAST_COUNT,
    part: (first, count) => [x + FLOAT_BYTES * first * columns, count, columns],
  }),
  norm: ([x, gain, bias, eps, rows, width, y]) => ({
    count: rows,
    grain: 1,
    isWorth: rows * width >= LEAST_COUNT,
    part: (first, count) => {
      const from = FLOAT_BYTES * first * width;
      return [x + from, gain, bias, eps, count, width, y + from];
    },
  }),
  gelu: ([x, count]) => ({
    count,
    grain: 4,
    isWorth: count >= LEAST_COUNT,
    part: (first, count) => [x + FLOAT_BYTES * first, count],
  }),
};

// Shared memory, smaller if the machine has too few addresses.
function sharedMemory(maximum = MOST_PAGES) {
  try {
    return new WebAssembly.Memory({ initial: 1, maximum, shared: true });
  } catch (error) {
    if (maximum < 4096) throw error;
    return sharedMemory(maximum >> 2);
  }
}

// createThreads for one thread
export const oneThread = () => ({
  memory: new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES }),
  divided: (kernels) => kernels,
  engine: () => "WebAssembly",
  begin: (top) => top,
  end() {},
});

const sameWorker = () => new Worker(self.location.href, { type: "module" });

// compiled: kernels with shared memory; startWorker(): returns a worker that passes its first message to `help`.
export function createThreads(compiled, startWorker = sameWorker, cores = navigator.hardwareConcurrency) {
  const memory = sharedMemory();
  const threads = Math.min(cores, MOST_THREADS);
  const helpers = [];

  const awakeHelpers = () => helpers.filter(({ bell }) => Atomics.load(bell, BELL_AT.awake));

  function start({ bell, numbers }, name, args) {
    numbers.set(args);
    bell.set([DIVIDED_KERNELS.indexOf(name), args.length], BELL_AT.which);
    Atomics.add(bell, BELL_AT.asked, 1);
    Atomics.notify(bell, BELL_AT.asked);
  }

  function wait({ bell }) {
    for (let i = 0; i < SPINS; i++) if (Atomics.load(bell, BELL_AT.done) === bell[BELL_AT.asked]) return;
    for (
      let done = Atomics.load(bell, BELL_AT.done);
      done !== bell[BELL_AT.asked];
      done = Atomics.load(bell, BELL_AT.done)
    )
      if (Atomics.wait(bell, BELL_AT.done, done, MOST_WAITED) === "timed-out")
        throw new Error("A thread does not answer any more.");
  }

  // Divides the slow kernels.
  function divided(kernels) {
    const dividing =
      (name) =>
      (...args) => {
        const { count, grain, isWorth, part } = dividedParts[name](args);
        const idle = isWorth ? awakeHelpers() : [];
        const share = Math.ceil(count / (idle.length + 1) / grain) * grain;
        const started = idle.filter((helper, i) => {
          const first = share * (i + 1);
          if (first >= count) return false;
          start(helper, name, part(first, Math.min(share, count - first)));
          return true;
        });
        kernels[name](...part(0, Math.min(share, count)));
        started.forEach(wait);
      };
    return { ...kernels, ...Object.fromEntries(DIVIDED_KERNELS.map((name) => [name, dividing(name)])) };
  }

  return {
    memory,
    divided,
    engine: () => (awakeHelpers().length ? `WebAssembly × ${awakeHelpers().length + 1}` : "WebAssembly"),
    // Puts the helpers' stacks at `top`; returns the first byte after them.
    begin(top) {
      const stacks = Math.ceil(top / 16) * 16;
      memory.grow(Math.ceil(((threads - 1) * STACK_BYTES) / 65_536) + 1);
      for (let i = 1; i < threads; i++) {
        const board = new SharedArrayBuffer(BOARD_BYTES);
        const worker = startWorker();
        worker.postMessage({ what: "help", compiled, memory, board, stack: stacks + i * STACK_BYTES });
        helpers.push({ worker, bell: new Int32Array(board, 0, 8), numbers: new Float64Array(board, 64) });
      }
      return stacks + (threads - 1) * STACK_BYTES;
    },
    end: () => helpers.splice(0).map(({ worker }) => worker.terminate()),
  };
}

export function help({ compiled, memory, board, stack }) {
  /** @type {any} */
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  exports.__stack_pointer.value = stack;
  const [bell, numbers] = [new Int32Array(board, 0, 8), new Float64Array(board, 64)];
  Atomics.store(bell, BELL_AT.awake, 1);
  for (let request = 0; ; ) {
    for (let i = 0; i < SPINS && Atomics.load(bell, BELL_AT.asked) === request; i++);
    Atomics.wait(bell, BELL_AT.asked, request);
    request = Atomics.load(bell, BELL_AT.asked);
    exports[DIVIDED_KERNELS[bell[BELL_AT.which]]](...numbers.subarray(0, bell[BELL_AT.count]));
    Atomics.store(bell, BELL_AT.done, request);
    Atomics.notify(bell, BELL_AT.done);
  }
}
