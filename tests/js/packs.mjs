// Makes packs for tests. A head of a layer has the same numbers in every pack, also in a pack of fewer layers or heads.

const TYPES = { float32: Float32Array, uint8: Uint8Array, float16: Uint16Array }; // float16: its bits

// The bytes of a container that openContainer reads; `sections`: {name: [dtype, shape, values]}.
export function container(header, sections) {
  const places = {};
  const parts = [];
  let offset = 0;
  for (const [name, [dtype, shape, values]] of Object.entries(sections)) {
    places[name] = { offset, dtype, shape };
    const bytes = new Uint8Array(TYPES[dtype].from(values).buffer);
    parts.push([offset, bytes]);
    offset += Math.ceil(bytes.length / 16) * 16;
  }
  const text = JSON.stringify({ ...header, sections: places });
  const length = Math.ceil((4 + text.length) / 16) * 16 - 4;
  const out = new Uint8Array(4 + length + offset);
  new DataView(out.buffer).setUint32(0, length, true);
  out.set(new TextEncoder().encode(text.padEnd(length)), 4);
  for (const [start, bytes] of parts) out.set(bytes, 4 + length + start);
  return out;
}

const numberAt = (source, layer, head, i) => Math.sin(1 + source + 7 * layer + 3 * head + 0.37 * i) * 2;

// `numbers(source, layer, head, i)` replaces the default numbers, sine waves; `source`: 0 for q, 1 for k, 2 for v.
// `some`: the heads that the pack holds, or null for all. `eightBits`: numbers in 8 bits, as for a prepared photograph.
export function packOf({
  held: heldLayers = [0],
  some: someHeads = null,
  layers = 4,
  heads = 3,
  grid = [2, 3],
  prefix = ["cls"],
  dim = 4,
  norms = true,
  eightBits = false,
  numbers = numberAt,
  ...header
} = {}) {
  const tokens = prefix.length + grid[0] * grid[1];
  const presentHeads = someHeads ?? Array.from({ length: heads }, (_, head) => head);
  const valuesOf = (source, size, value = numbers) =>
    heldLayers.flatMap((layer) =>
      presentHeads.flatMap((head) => Array.from({ length: size }, (_, i) => value(source, layer, head, i))),
    );
  const shape = [heldLayers.length, presentHeads.length, tokens, dim];
  const packHeader = {
    format: "attention-playground/1",
    model: "small",
    scale: dim ** -0.5,
    layers,
    heads,
    head_dim: dim,
    tokens,
    prefix,
    grid,
    held: heldLayers,
    ...(someHeads ? { some_heads: someHeads } : {}),
    ...header,
  };
  const normSection = norms && { value_norms: ["float32", shape.slice(0, 3), valuesOf(2, tokens).map(Math.abs)] };
  if (!eightBits) {
    const section = (source) => ["float32", shape, valuesOf(source, tokens * dim)];
    return container(packHeader, { q: section(0), k: section(1), ...normSection });
  }
  const codeAt = (source, layer, head, i) => (source + 5 * layer + 11 * head + 3 * i) % 256;
  const rangeShape = [heldLayers.length, presentHeads.length, dim];
  const sections = Object.fromEntries(
    ["q", "k"].flatMap((name, source) => [
      [name, ["uint8", shape, valuesOf(source, tokens * dim, codeAt)]],
      [`${name}_low`, ["float32", rangeShape, valuesOf(source, dim)]],
      [`${name}_step`, ["float32", rangeShape, valuesOf(source + 4, dim)]],
    ]),
  );
  return container(packHeader, { ...sections, ...normSection });
}
