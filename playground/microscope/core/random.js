// Random numbers that are the same on every page. No DOM.

// The generator mulberry32: uniform numbers between 0 and 1.
export function uniform(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Normally distributed numbers, in pairs from pairs of uniform numbers, by the method of Box and Muller.
export function normals(count, deviation, random) {
  const numbers = new Float32Array(count);
  for (let i = 0; i < count; i += 2) {
    const length = deviation * Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    numbers[i] = length * Math.cos(angle);
    if (i + 1 < count) numbers[i + 1] = length * Math.sin(angle);
  }
  return numbers;
}
