// A GIF that goes round, from frames of RGBA pixels: one palette for all, of the colours that are there most. No DOM.

const GIF_COLOURS = 256;
const MISSED_MOST = 48; // of these
const CONSIDERED = 4000; // colours for them
const MOST_CODES = 4096; // codes of GIF's LZW have at most twelve bits

// frames: [{pixels: RGBA bytes, ms}]
export function gifOf(frames, width, height) {
  const palette = paletteOf(frames);
  const indexOf = nearestIn(palette);
  const out = [..."GIF89a"].map((letter) => letter.charCodeAt(0));
  const number = (value) => out.push(value & 255, value >> 8);
  number(width);
  number(height);
  out.push(0xf7, 0, 0); // a palette of 256 colours
  for (let i = 0; i < GIF_COLOURS; i++) out.push(...(palette[i] ?? [0, 0, 0]));
  // Again and again
  out.push(0x21, 0xff, 11, ...[..."NETSCAPE2.0"].map((letter) => letter.charCodeAt(0)), 3, 1, 0, 0, 0);
  const parts = [Uint8Array.from(out)];
  let before = null;
  for (const { pixels, ms } of frames) {
    const hundredths = Math.max(2, Math.round(ms / 10));
    const indices = new Uint8Array(width * height);
    for (let i = 0; i < indices.length; i++) indices[i] = indexOf(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
    const box = before ? changedBox(before, indices, width, height) : { left: 0, top: 0, wide: width, high: height };
    const { left, top, wide, high } = box;
    const head = [0x21, 0xf9, 4, 4, hundredths & 255, hundredths >> 8, 0, 0, 0x2c]; // what was drawn before stays
    for (const value of [left, top, wide, high]) head.push(value & 255, value >> 8);
    parts.push(
      Uint8Array.from([...head, 0, 8]),
      ...blocksOf(packedCodes(cutOut(indices, width, box))),
      Uint8Array.of(0),
    );
    before = indices;
  }
  parts.push(Uint8Array.of(0x3b));
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// The rectangle outside of which two pictures are alike; one pixel where they are the same.
function changedBox(before, now, width, height) {
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let i = 0; i < now.length; i++) {
    if (now[i] === before[i]) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  if (right < 0) return { left: 0, top: 0, wide: 1, high: 1 };
  return { left, top, wide: right - left + 1, high: bottom - top + 1 };
}

function cutOut(indices, width, { left, top, wide, high }) {
  const part = new Uint8Array(wide * high);
  for (let y = 0; y < high; y++)
    part.set(indices.subarray((top + y) * width + left, (top + y) * width + left + wide), y * wide);
  return part;
}

// The colours that are there most, five bits a channel; the last of them are those that would be missed most, as a thin
// line of a colour of its own.
function paletteOf(frames) {
  const counts = new Uint32Array(1 << 15);
  for (const { pixels } of frames)
    for (let i = 0; i < pixels.length; i += 4)
      counts[((pixels[i] >> 3) << 10) | ((pixels[i + 1] >> 3) << 5) | (pixels[i + 2] >> 3)]++;
  const colours = [...counts.keys()]
    .filter((key) => counts[key])
    .sort((a, b) => counts[b] - counts[a])
    .map((key) => ({
      count: counts[key],
      rgb: [key >> 10, (key >> 5) & 31, key & 31].map((five) => (five << 3) | (five >> 2)),
    }));
  const kept = colours.slice(0, GIF_COLOURS - MISSED_MOST);
  const others = colours.slice(kept.length, kept.length + CONSIDERED);
  for (const one of others) one.away = Math.min(...kept.map(({ rgb }) => colourAway(rgb, one.rgb)));
  const missed = ({ count, away }) => count * away;
  while (kept.length < GIF_COLOURS && others.length > 0) {
    const most = others.reduce((best, one, i) => (missed(one) > missed(others[best]) ? i : best), 0);
    const [taken] = others.splice(most, 1);
    kept.push(taken);
    for (const one of others) one.away = Math.min(one.away, colourAway(taken.rgb, one.rgb));
  }
  return kept.map(({ rgb }) => rgb);
}

const colourAway = ([r, g, b], [red, green, blue]) => 2 * (r - red) ** 2 + 4 * (g - green) ** 2 + (b - blue) ** 2;

// (red, green, blue) → the index of the nearest colour; each of the 32,768 is looked for once.
function nearestIn(palette) {
  const known = new Int16Array(1 << 15).fill(-1);
  return (red, green, blue) => {
    const key = ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3);
    if (known[key] >= 0) return known[key];
    let [best, least] = [0, Number.POSITIVE_INFINITY];
    for (const [i, rgb] of palette.entries()) {
      const away = colourAway(rgb, [red, green, blue]);
      if (away < least) [best, least] = [i, away];
    }
    known[key] = best;
    return best;
  };
}

// LZW of bytes.
function packedCodes(indices) {
  const [clear, end] = [256, 257];
  const out = [];
  let [bits, held, size] = [0, 0, 9];
  const put = (code) => {
    held |= code << bits;
    bits += size;
    for (; bits >= 8; bits -= 8) {
      out.push(held & 255);
      held >>>= 8;
    }
  };
  let [table, next] = [new Map(), 258];
  put(clear);
  let prefix = indices[0];
  for (let i = 1; i < indices.length; i++) {
    const key = (prefix << 8) | indices[i];
    const there = table.get(key);
    if (there !== undefined) {
      prefix = there;
      continue;
    }
    put(prefix);
    if (next < MOST_CODES) {
      table.set(key, next++);
      if (next > 1 << size && size < 12) size++;
    } else {
      put(clear);
      [table, next, size] = [new Map(), 258, 9];
    }
    prefix = indices[i];
  }
  put(prefix);
  put(end);
  if (bits) out.push(held & 255);
  return Uint8Array.from(out);
}

function blocksOf(bytes) {
  const blocks = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.subarray(at, at + 255);
    blocks.push(Uint8Array.of(block.length), block);
  }
  return blocks;
}
