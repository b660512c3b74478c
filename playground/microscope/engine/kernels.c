// The slow parts of a ViT, for WebAssembly with SIMD: products of matrices, softmax, norm, GELU. tensors.js passes all
// addresses. No libc, no allocation. `python -m workshop.kernels` compiles this file.

typedef float Four __attribute__((vector_size(16), aligned(4)));
typedef int FourInts __attribute__((vector_size(16)));
typedef signed char Int8;
typedef short Int16;
typedef unsigned char Byte;
typedef Byte FourBytes __attribute__((vector_size(4), aligned(1)));
typedef short EightShorts __attribute__((vector_size(16), may_alias));
typedef Int8 EightCodes __attribute__((vector_size(8), aligned(1)));
typedef int Two __attribute__((may_alias)); // two adjacent Int16s

#define EXPORTED __attribute__((visibility("default")))
// Keeps code that computes x before this line, and code that uses x after it. Otherwise the compiler interleaves too
// many sums for the sixteen registers of x86.
#define STAYS(x) __asm__ volatile("" : "+r"(x))
#define EACH_ROW UNROLLED for (int r = 0; r < HIGH; r++)
#define UNROLLED _Pragma("clang loop unroll(full)")

static inline Four all(float x) { return (Four){x, x, x, x}; }
static inline Four load(const float *from) { return *(const Four *)from; }
static inline void store(float *to, Four x) { *(Four *)to = x; }
static inline float sum(Four x) { return x[0] + x[1] + x[2] + x[3]; }
static inline Four larger(Four x, Four y) { return __builtin_wasm_pmax_f32x4(x, y); }
static inline float largest_of(Four x) {
  float left = x[0] > x[1] ? x[0] : x[1], right = x[2] > x[3] ? x[2] : x[3];
  return left > right ? left : right;
}

// A float of this size has no fraction: adding it rounds, and the lowest bits hold the integer.
#define ROUNDS 12582912.0f // 1.5 · 2^23
static inline FourInts bits_of(Four x) { return (FourInts)x; }

// ------------------------------------------------------------------------------------------------------- products

// A tile of HIGH rows by WIDE columns is computed at one time: its eight vectors of sums and their factors fit into
// registers. With six rows they don't.
enum { HIGH = 4, WIDE = 8, DEEP = 384, BLOCK = 32 };

// A panel has WIDE columns of the second matrix, DEEP numbers of each: small enough for the fastest cache.

// The addends of a tile's sums, and the addresses of the results.
typedef struct {
  const float *from; // the bias, or what is in `out`
  int from_step;
  float *out;
  int out_step, wide;
} Tile;

// Adds a tile's sums, at most HIGH rows by WIDE columns, and moves to the next tile.
static __attribute__((noinline)) void add_up(Tile *tile, const float (*sums)[WIDE], int left) {
  const float *from = tile->from;
  float *out = tile->out;
  int from_step = tile->from_step, out_step = tile->out_step, wide = tile->wide, rows = left < HIGH ? left : HIGH;
  tile->from += HIGH * from_step, tile->out += HIGH * out_step;
  for (; rows; rows--, sums++, from += from_step, out += out_step)
    if (wide == WIDE) {
      store(out, load(from) + load(*sums));
      store(out + 4, load(from + 4) + load(*sums + 4));
    } else
      for (int n = 0; n < wide; n++) out[n] = from[n] + (*sums)[n];
}

// The first tile of columns n to n + WIDE, whose biases go to `biases`.
static inline Tile first_tile(const float *bias, float *biases, int adds, float *out, int out_step, int n,
                              int columns) {
  Tile tile = {out + n, out_step, out + n, out_step, columns - n < WIDE ? columns - n : WIDE};
  for (int i = 0; i < tile.wide; i++) biases[i] = bias ? bias[n + i] : 0;
  if (!adds) tile.from = biases, tile.from_step = 0;
  return tile;
}

// Transposes 4 × 4 integers.
static inline void turn(FourInts *x) {
  FourInts a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  FourInts c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7), d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5), x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5), x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

static inline int nearest(int i, int wide) { return i < wide ? i : wide - 1; }

// HIGH rows of `a` times the panel; if fewer are left, the last row is repeated.
static inline void times_panel(const float *panel, const float *a, int a_step, int left, int deep, Tile *tile) {
  Four sums[HIGH][2];
  EACH_ROW sums[r][0] = sums[r][1] = all(0);
  const float *row[HIGH];
  EACH_ROW row[r] = a + nearest(r, left) * a_step;
  int k = 0;
  for (; k + 4 <= deep; k += 4, panel += 4 * WIDE) { // four at once share the addresses
    EACH_ROW STAYS(row[r]);
    STAYS(panel);
    UNROLLED for (unsigned i = 0; i < 4; i++) {
      Four left = load(panel + i * WIDE), right = load(panel + i * WIDE + 4);
      EACH_ROW {
        Four x = all(row[r][i]);
        sums[r][0] += x * left;
        sums[r][1] += x * right;
        STAYS(sums[r][0]);
        STAYS(sums[r][1]);
      }
    }
    EACH_ROW row[r] += 4;
  }
  for (; k < deep; k++, panel += WIDE)
    EACH_ROW {
      Four x = all(*row[r]++);
      sums[r][0] += x * load(panel);
      sums[r][1] += x * load(panel + 4);
    }
  float done[HIGH][WIDE];
  EACH_ROW {
    store(done[r], sums[r][0]);
    store(done[r] + 4, sums[r][1]);
  }
  add_up(tile, done, left);
}

// out (rows, columns) = a (rows, inner) · b + bias. b is (columns, inner), or if `transposed`, (inner, columns). A step
// is the distance from one row to the next, in numbers. A few numbers behind b are read but not used.
EXPORTED void product(const float *a, int a_step, const float *b, int b_step, int transposed, const float *bias,
                      int rows, int inner, int columns, float *out, int out_step) {
  float panel[DEEP * WIDE] __attribute__((aligned(16)));
  float biases[WIDE];
  for (int n = 0; n < columns; n += WIDE)
    for (int first = 0; first < inner; first += DEEP) {
      Tile tile = first_tile(bias, biases, first, out, out_step, n, columns);
      int deep = inner - first < DEEP ? inner - first : DEEP;
      if (transposed) {
        const float *row = b + first * b_step + n;
        for (float *to = panel; to < panel + deep * WIDE; to += WIDE, row += b_step) {
          store(to, load(row));
          store(to + 4, load(row + 4));
        }
      } else
        for (int half = 0; half < WIDE; half += 4)
          for (int k = 0; k < deep; k += 4) {
            FourInts x[4];
            UNROLLED for (int i = 0; i < 4; i++)
              x[i] = bits_of(load(b + (n + nearest(half + i, tile.wide)) * b_step + first + k));
            turn(x);
            UNROLLED for (int i = 0; i < 4; i++) store(panel + (k + i) * WIDE + half, (Four)x[i]);
          }
      const float *x = a + first;
      for (int left = rows; left > 0; left -= HIGH, x += HIGH * a_step)
        times_panel(panel, x, a_step, left, deep, &tile);
    }
}

// ------------------------------------------------------------------------------------------- products with 8-bit codes

// Each row of `a` becomes 16-bit integers times a unit. Then 32 products with codes add up exactly, and one instruction
// adds two products: twice as fast as floats.
typedef struct {
  FourInts pairs[DEEP / 2][2]; // two codes of each of WIDE columns
  float gains[DEEP / BLOCK][WIDE];
} Codes;

static inline int whole_blocks(int inner) { return (inner + BLOCK - 1) / BLOCK * BLOCK; }
static inline FourInts rounded(Four x, Four rounds) { return bits_of(x + rounds) - bits_of(rounds); }

// Writes each row's integers, with zeros up to a whole block, and the row's unit.
EXPORTED void to_integers(const float *a, int a_step, int rows, int inner, Int16 *to, float *units) {
  int to_step = whole_blocks(inner);
  for (int r = 0; r < rows; r++, a += a_step, to += to_step) {
    Four sizes = all(1e-30f);
    int k = 0;
    for (; k + 4 <= inner; k += 4) sizes = larger(sizes, __builtin_wasm_abs_f32x4(load(a + k)));
    float most = largest_of(sizes);
    for (; k < inner; k++) most = __builtin_fabsf(a[k]) > most ? __builtin_fabsf(a[k]) : most;
    units[r] = most / 32767;
    Four times = all(32767 / most), rounds = all(ROUNDS);
    STAYS(rounds); // in a register
    for (k = 0; k + 8 <= inner; k += 8) {
      FourInts left = rounded(load(a + k) * times, rounds), right = rounded(load(a + k + 4) * times, rounds);
      *(EightShorts *)(to + k) = __builtin_wasm_narrow_s_i16x8_i32x4(left, right);
    }
    for (; k < to_step; k++) to[k] = k < inner ? rounded(all(a[k]) * times, rounds)[0] : 0;
  }
}

static inline void times_pairs(const Codes *panel, const Int16 *a, int a_step, const float *units, int left, int deep,
                               Tile *tile) {
  Four sums[HIGH][2];
  EACH_ROW sums[r][0] = sums[r][1] = all(0);
  const FourInts(*pairs)[2] = panel->pairs;
  const Int16 *row[HIGH];
  EACH_ROW row[r] = a + nearest(r, left) * a_step;
  for (int block = 0; block * BLOCK < deep; block++) {
    FourInts dots[HIGH][2];
    EACH_ROW dots[r][0] = dots[r][1] = (FourInts){0, 0, 0, 0};
    for (int k = 0; k < BLOCK; k += 8, pairs += 4) {
      EACH_ROW STAYS(row[r]);
      STAYS(pairs);
      UNROLLED for (unsigned i = 0; i < 4; i++) {
        EightShorts left = (EightShorts)pairs[i][0], right = (EightShorts)pairs[i][1];
        EACH_ROW {
          int two = ((const Two *)row[r])[i];
          EightShorts x = (EightShorts)(FourInts){two, two, two, two};
          dots[r][0] += (FourInts)__builtin_wasm_dot_s_i32x4_i16x8(x, left);
          dots[r][1] += (FourInts)__builtin_wasm_dot_s_i32x4_i16x8(x, right);
          STAYS(dots[r][0]);
          STAYS(dots[r][1]);
        }
      }
      EACH_ROW row[r] += 8;
    }
    Four left = load(panel->gains[block]), right = load(panel->gains[block] + 4);
    EACH_ROW {
      sums[r][0] += __builtin_convertvector(dots[r][0], Four) * left;
      sums[r][1] += __builtin_convertvector(dots[r][1], Four) * right;
    }
  }
  float done[HIGH][WIDE];
  EACH_ROW {
    Four unit = all(units[nearest(r, left)]);
    store(done[r], sums[r][0] * unit);
    store(done[r] + 4, sums[r][1] * unit);
  }
  add_up(tile, done, left);
}

// As `product`, for codes (columns, inner) with a gain for each 32 of a row, and for results of to_integers.
EXPORTED void product_of_codes(const Int16 *integers, const float *units, const Int8 *codes, const float *gains,
                               const float *bias, int rows, int inner, int columns, float *out, int out_step) {
  int step = whole_blocks(inner), blocks = step / BLOCK;
  Codes panel;
  float biases[WIDE];
  for (int n = 0; n < columns; n += WIDE)
    for (int first = 0; first < inner; first += DEEP) {
      Tile tile = first_tile(bias, biases, first, out, out_step, n, columns);
      int deep = inner - first < DEEP ? inner - first : DEEP;
      for (int half = 0; half < 2; half++) {
        const Int8 *column[4];
        UNROLLED for (int i = 0; i < 4; i++) {
          int which = n + nearest(half * 4 + i, tile.wide);
          column[i] = codes + which * inner + first;
          for (int block = 0; block * BLOCK < deep; block++)
            panel.gains[block][half * 4 + i] = gains[which * blocks + first / BLOCK + block];
        }
        for (int k = 0; k < deep; k += 8) {
          FourInts x[4];
          UNROLLED for (int i = 0; i < 4; i++)
            x[i] = (FourInts)__builtin_convertvector(*(const EightCodes *)(column[i] + k), EightShorts);
          turn(x);
          UNROLLED for (int i = 0; i < 4; i++) panel.pairs[k / 2 + i][half] = x[i];
        }
      }
      const Int16 *x = integers + first;
      const float *unit = units;
      for (int left = rows; left > 0; left -= HIGH, x += HIGH * step, unit += HIGH)
        times_pairs(&panel, x, step, unit, left, deep, &tile);
    }
}

// ---------------------------------------------------------------------------------------- softmax, norm, activation

// Filling a vector with a constant takes one load from memory, but three instructions from code. So constants are in
// arrays. A polynomial's begin with the highest power's.
static inline Four polynomial(Four x, const float *of, int degree) {
  STAYS(of);
  Four sum = all(of[0]);
  UNROLLED for (int i = 1; i <= degree; i++) sum = sum * x + all(of[i]);
  return sum;
}

static inline Four between(Four x, const float *ends) {
  STAYS(ends);
  return __builtin_wasm_pmin_f32x4(larger(x, all(ends[0])), all(ends[1]));
}

// e^x = 2^n · 2^f with |f| ≤ 1/2. A polynomial gives 2^f, with a relative error below 1e-7; n is added to the exponent.
// The result is at least e^-60, because x86 is slow with subnormal numbers.
static const float ENDS[] = {-60, 88}, TO_TWO[] = {1.44269504f, ROUNDS},
                   POWER[] = {1.32647273e-3f, 9.67151283e-3f, 5.55073374e-2f, 2.40222421e-1f, 6.93146978e-1f, 1};

static inline Four exponential(Four x) {
  const float *two = TO_TWO;
  STAYS(two);
  x = between(x, ENDS) * all(two[0]);
  Four n = x + all(two[1]), f = x - (n - all(two[1]));
  return (Four)(bits_of(polynomial(f, POWER, 5)) + (bits_of(n) << 23));
}

// y = x times a number
static inline void scaled(const float *x, float times, int count, float *y) {
  int n = 0;
  for (; n + 4 <= count; n += 4) store(y + n, load(x + n) * all(times));
  for (; n < count; n++) y[n] = x[n] * times;
}

// For each row of x (rows, columns), in place. Up to three numbers after x are read but not used.
EXPORTED void softmax(float *x, int rows, int columns) {
  for (int r = 0; r < rows; r++, x += columns) {
    Four most = all(x[0]), sums = all(0);
    int n = 0;
    for (; n + 4 <= columns; n += 4) most = larger(most, load(x + n));
    float largest = largest_of(most), rest = 0;
    for (; n < columns; n++) largest = x[n] > largest ? x[n] : largest;
    for (n = 0; n < columns; n += 4) {
      Four e = exponential(load(x + n) - all(largest));
      if (n + 4 <= columns) {
        store(x + n, e);
        sums += e;
      } else
        for (int i = 0; n + i < columns; i++) rest += x[n + i] = e[i];
    }
    scaled(x, 1 / (sum(sums) + rest), columns, x);
  }
}

// y: each row of x (rows, width) at mean 0 and variance 1, times gain, plus bias. Width: a multiple of four.
EXPORTED void norm(const float *x, const float *gain, const float *bias, float eps, int rows, int width, float *y) {
  for (int r = 0; r < rows; r++, x += width, y += width) {
    Four total = all(0), squares = all(0);
    for (int i = 0; i < width; i += 4) total += load(x + i);
    Four mean = all(sum(total) / width);
    for (int i = 0; i < width; i += 4) squares += (load(x + i) - mean) * (load(x + i) - mean);
    Four inverse = all(1 / __builtin_sqrtf(sum(squares) / width + eps));
    for (int i = 0; i < width; i += 4) store(y + i, (load(x + i) - mean) * inverse * load(gain + i) + load(bias + i));
  }
}

// x · Φ(x), in place; Φ(x) - 1/2 is x times a quotient of two polynomials of x², fitted for |x| < 5.6 and constant
// beyond. The error is below 1.1e-6 for |x| < 12. Count: a multiple of four.
static const float FITTED[] = {-5.6f, 5.6f}, HALF[] = {0.5f},
                   ABOVE[] = {2.17105273e-8f, 6.5906069e-6f,  1.90157283e-4f,
                              4.80543112e-3f, 3.58473656e-2f, 3.98941901e-1f},
                   BELOW[] = {1.18515392e-6f, 8.10117201e-5f, 2.00336531e-3f, 2.98040646e-2f, 2.56518763e-1f, 1};

EXPORTED void gelu(float *x, int count) {
  for (int i = 0; i < count; i += 4) {
    Four z = between(load(x + i), FITTED), u = z * z;
    Four above = z * polynomial(u, ABOVE, 5);
    store(x + i, load(x + i) * (polynomial(u, HALF, 0) + above / polynomial(u, BELOW, 5)));
  }
}

// -------------------------------------------------------------------------------------------------------- the rest

// x += y. If count is no multiple of four, unused numbers behind x and y are added, too.
EXPORTED void add(float *x, const float *y, int count) {
  for (int i = 0; i < count; i += 4) store(x + i, load(x + i) + load(y + i));
}

// y = x · times, for a part of each row, such as one head's.
EXPORTED void take(const float *x, int step, float times, int rows, int width, float *y, int y_step) {
  for (int r = 0; r < rows; r++, x += step, y += y_step) scaled(x, times, width, y);
}

// √(a_r · b_r) of each row; 0 if rounding makes the product negative.
EXPORTED void root_of_dots(const float *a, int a_step, const float *b, int b_step, int rows, int width, float *out) {
  for (int r = 0; r < rows; r++, a += a_step, b += b_step) {
    Four dots = all(0);
    int i = 0;
    for (; i + 4 <= width; i += 4) dots += load(a + i) * load(b + i);
    float dot = sum(dots);
    for (; i < width; i++) dot += a[i] * b[i];
    out[r] = __builtin_sqrtf(dot > 0 ? dot : 0);
  }
}

static inline FourInts half(Four x) {
  const FourInts LARGEST = {0x477fe000, 0x477fe000, 0x477fe000, 0x477fe000}; // 65504
  FourInts bits = (FourInts)x, size = __builtin_elementwise_min(bits & 0x7fffffff, LARGEST);
  FourInts plain = (size + ((size >> 13) & 1) + 0xfff - (112 << 23)) >> 13;
  FourInts tiny = (FourInts)((Four)size + all(0.5f)) - (126 << 23), is_tiny = size < (113 << 23); // steps of 2^-24
  return (tiny & is_tiny) | (plain & ~is_tiny) | ((bits >> 16) & 0x8000);
}

// float16 bits of the nearest numbers, ties to even; too large numbers become the largest float16. Up to seven
// more are read and written, but not used.
EXPORTED void halves(const float *x, int count, EightShorts *out) {
  for (const float *end = x + count; x < end; x += 8)
    *out++ = __builtin_wasm_narrow_u_i16x8_i32x4(half(load(x)), half(load(x + 4)));
}

// --------------------------------------------------------------------------------------------------------- pictures

enum { BITS = 22, CHANNELS = 4 }; // BITS: of the fraction in fixed point

static inline FourInts wide(FourBytes x) { return __builtin_convertvector(x, FourInts); }
static inline FourBytes to_bytes(FourInts x) {
  x = __builtin_elementwise_max(x >> BITS, (FourInts){0, 0, 0, 0});
  return __builtin_convertvector(__builtin_elementwise_min(x, (FourInts){255, 255, 255, 255}), FourBytes);
}

// Each of `to` pixels mixes source pixels, `apart` pixels from each other; images.js gives their first and count
// (spans) and `most` weights. Does this for `lines` lines.
EXPORTED void mix(const Byte *from, int from_line, int apart, const int *spans, const int *weights, int most, int to,
                  int lines, Byte *out, int out_line, int out_apart) {
  for (int line = 0; line < lines; line++) {
    for (int i = 0; i < to; i++) {
      const Byte *pixel = from + CHANNELS * (line * from_line + spans[2 * i] * apart);
      const int *weight = weights + i * most;
      FourInts sum = {1 << (BITS - 1), 1 << (BITS - 1), 1 << (BITS - 1), 1 << (BITS - 1)};
      for (const int *end = weight + spans[2 * i + 1]; weight < end; pixel += CHANNELS * apart)
        sum += wide(*(FourBytes *)pixel) * *weight++;
      *(FourBytes *)(out + CHANNELS * (line * out_line + i * out_apart)) = to_bytes(sum);
    }
  }
}
