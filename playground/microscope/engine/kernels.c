// What a ViT spends its time on, for WebAssembly with SIMD: products of matrices, softmax, norm, GELU. vit.js calls
// them and says where everything lies. No libc, no allocation. `python -m workshop.kernels` compiles this file.

typedef float Four __attribute__((vector_size(16), aligned(4)));
typedef int FourInts __attribute__((vector_size(16)));
typedef signed char Int8;
typedef short Int16;
typedef unsigned char Byte;
typedef Byte FourBytes __attribute__((vector_size(4), aligned(1)));
typedef short EightShorts __attribute__((vector_size(16), may_alias));
typedef int Two __attribute__((may_alias)); // Int16s, side by side

#define EXPORTED __attribute__((visibility("default")))
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

// A float of this size has no room for a fraction: adding it rounds, and the integer stands in the lowest bits.
#define ROUNDS 12582912.0f // 1.5 · 2^23
static inline FourInts bits_of(Four x) { return (FourInts)x; }

// ------------------------------------------------------------------------------------------------------- products

enum { WIDE = 8, DEEP = 384, BLOCK = 32 };

// A panel is WIDE columns of the second matrix, DEEP numbers of each, side by side: small enough for the fastest cache.
// It lies on the stack, of which each thread has its own (faster/threads.js); so nothing here is static.

// COUNT rows of `a` times the panel, added to `out`; COUNT is a number, so that the sums stay in registers. With more
// than four rows the sixteen of x86 do not hold them, and a product takes half as long again.
#define TIMES_PANEL(COUNT)                                                                                           \
  static void times_panel_##COUNT(const float *panel, const float *a, int a_step, int deep, float *out,              \
                                  int out_step, int wide) {                                                          \
    Four sums[COUNT][2];                                                                                             \
    for (int r = 0; r < COUNT; r++) sums[r][0] = sums[r][1] = all(0);                                                \
    for (int k = 0; k < deep; k++) {                                                                                 \
      Four left = load(panel + k * WIDE), right = load(panel + k * WIDE + 4);                                        \
      UNROLLED for (int r = 0; r < COUNT; r++) {                                                                     \
        Four x = all(a[r * a_step + k]);                                                                             \
        sums[r][0] += x * left;                                                                                      \
        sums[r][1] += x * right;                                                                                     \
      }                                                                                                              \
    }                                                                                                                \
    for (int r = 0; r < COUNT; r++, out += out_step) add_up(out, sums[r], 1, wide);                                  \
  }

static inline void add_up(float *out, const Four *sums, float times, int wide) {
  if (wide == WIDE) {
    store(out, load(out) + sums[0] * all(times));
    store(out + 4, load(out + 4) + sums[1] * all(times));
  } else
    for (int n = 0; n < wide; n++) out[n] += sums[n / 4][n % 4] * times;
}
TIMES_PANEL(4)
TIMES_PANEL(1)

static void begin(float *out, int out_step, int rows, int columns, const float *bias) {
  for (int r = 0; r < rows; r++)
    for (int n = 0; n < columns; n++) out[r * out_step + n] = bias ? bias[n] : 0;
}

// out (rows, columns) = a (rows, inner) · b + bias. b lies as (columns, inner), or `transposed` as (inner, columns). A
// step is the distance from one row to the next, in numbers.
EXPORTED void product(const float *a, int a_step, const float *b, int b_step, int transposed, const float *bias,
                      int rows, int inner, int columns, float *out, int out_step) {
  float panel[DEEP * WIDE] __attribute__((aligned(16)));
  int along = transposed ? b_step : 1, across = transposed ? 1 : b_step;
  begin(out, out_step, rows, columns, bias);
  for (int n = 0; n < columns; n += WIDE) {
    int wide = columns - n < WIDE ? columns - n : WIDE;
    for (int first = 0; first < inner; first += DEEP) {
      int deep = inner - first < DEEP ? inner - first : DEEP;
      for (int i = 0; i < wide; i++)
        for (int k = 0; k < deep; k++) panel[k * WIDE + i] = b[(n + i) * across + (first + k) * along];
      const float *x = a + first;
      float *y = out + n;
      int left = rows;
      for (; left >= 4; left -= 4, x += 4 * a_step, y += 4 * out_step)
        times_panel_4(panel, x, a_step, deep, y, out_step, wide);
      for (; left; left--, x += a_step, y += out_step) times_panel_1(panel, x, a_step, deep, y, out_step, wide);
    }
  }
}

// ------------------------------------------------------------------------------------------- products with 8-bit codes

// Rows of `a` become 16-bit integers, each in a unit of its own. Then a block of 32 products with codes is summed up
// exactly, and two products with their sum are one instruction: twice as fast as floats.
typedef struct {
  Int16 pairs[DEEP / 2][WIDE][2];
  float gains[DEEP / BLOCK][WIDE];
} Codes __attribute__((aligned(16)));

static void to_integers(const float *a, int a_step, int rows, int inner, Int16 *to, int to_step, float *units) {
  for (int r = 0; r < rows; r++, a += a_step, to += to_step) {
    Four sizes = all(1e-30f);
    int k = 0;
    for (; k + 4 <= inner; k += 4) sizes = larger(sizes, __builtin_wasm_abs_f32x4(load(a + k)));
    float most = largest_of(sizes);
    for (; k < inner; k++) most = __builtin_fabsf(a[k]) > most ? __builtin_fabsf(a[k]) : most;
    units[r] = most / 32767;
    float times = 32767 / most;
    for (k = 0; k < inner; k++) to[k] = (Int16)bits_of(all(a[k] * times + ROUNDS))[0];
    if (inner % 2) to[inner] = 0;
  }
}

#define TIMES_PAIRS(COUNT)                                                                                           \
  static void times_pairs_##COUNT(const Codes *panel, const Int16 *a, int a_step, const float *units, int deep,      \
                                  float *out, int out_step, int wide) {                                              \
    Four sums[COUNT][2];                                                                                             \
    for (int r = 0; r < COUNT; r++) sums[r][0] = sums[r][1] = all(0);                                                \
    for (int first = 0; first < deep; first += BLOCK) {                                                              \
      FourInts dots[COUNT][2];                                                                                       \
      for (int r = 0; r < COUNT; r++) dots[r][0] = dots[r][1] = (FourInts){0, 0, 0, 0};                              \
      int end = first + BLOCK < deep ? first + BLOCK : deep;                                                         \
      for (int k = first; k < end; k += 2) {                                                                         \
        const Int16(*pair)[2] = panel->pairs[k / 2];                                                                 \
        EightShorts left = *(EightShorts *)pair[0], right = *(EightShorts *)pair[4];                                 \
        UNROLLED for (int r = 0; r < COUNT; r++) {                                                                   \
          int two = *(const Two *)(a + r * a_step + k);                                                              \
          EightShorts x = (EightShorts)(FourInts){two, two, two, two};                                               \
          dots[r][0] += (FourInts)__builtin_wasm_dot_s_i32x4_i16x8(x, left);                                         \
          dots[r][1] += (FourInts)__builtin_wasm_dot_s_i32x4_i16x8(x, right);                                        \
        }                                                                                                            \
      }                                                                                                              \
      Four left = load(panel->gains[first / BLOCK]), right = load(panel->gains[first / BLOCK] + 4);                  \
      UNROLLED for (int r = 0; r < COUNT; r++) {                                                                     \
        sums[r][0] += __builtin_convertvector(dots[r][0], Four) * left;                                              \
        sums[r][1] += __builtin_convertvector(dots[r][1], Four) * right;                                             \
      }                                                                                                              \
    }                                                                                                                \
    for (int r = 0; r < COUNT; r++, out += out_step) add_up(out, sums[r], units[r], wide);                           \
  }
TIMES_PAIRS(4)
TIMES_PAIRS(1)

// The same for codes (columns, inner) with a gain for each block of 32 of a row. `room` is for (inner + 1) integers and
// a unit of each row of `a`. `adds`: to what is in `out`, and no bias.
EXPORTED void product_of_codes(const float *a, int a_step, const Int8 *codes, const float *gains, const float *bias,
                               int rows, int inner, int columns, float *out, int out_step, float *room, int adds) {
  int step = (inner + 1) & ~1, blocks = (inner + BLOCK - 1) / BLOCK;
  Codes panel;
  float *units = room;
  Int16 *integers = (Int16 *)(room + rows);
  to_integers(a, a_step, rows, inner, integers, step, units);
  if (!adds) begin(out, out_step, rows, columns, bias);
  for (int n = 0; n < columns; n += WIDE) {
    int wide = columns - n < WIDE ? columns - n : WIDE;
    for (int first = 0; first < inner; first += DEEP) {
      int deep = inner - first < DEEP ? inner - first : DEEP;
      for (int i = 0; i < wide; i++) {
        const Int8 *code = codes + (n + i) * inner + first;
        for (int k = 0; k < deep; k++) panel.pairs[k / 2][i][k % 2] = code[k];
        for (int k = 0; k < deep; k += BLOCK)
          panel.gains[k / BLOCK][i] = gains[(n + i) * blocks + (first + k) / BLOCK];
      }
      const Int16 *x = integers + first;
      float *y = out + n, *unit = units;
      int left = rows;
      for (; left >= 4; left -= 4, x += 4 * step, y += 4 * out_step, unit += 4)
        times_pairs_4(&panel, x, step, unit, deep, y, out_step, wide);
      for (; left; left--, x += step, y += out_step, unit++)
        times_pairs_1(&panel, x, step, unit, deep, y, out_step, wide);
    }
  }
}

// ---------------------------------------------------------------------------------------- softmax, norm, activation

// e^x = 2^n · e^r with |r| ≤ ln 2 / 2, and a polynomial for e^r (Cephes): relative error below 2e-7.
static inline Four exponential(Four x) {
  x = __builtin_wasm_pmin_f32x4(larger(x, all(-87)), all(88));
  Four rounded = x * all(1.44269504f) + all(ROUNDS), n = rounded - all(ROUNDS);
  Four r = x - n * all(0.693359375f) - n * all(-2.12194440e-4f);
  Four p = all(1.9875691500e-4f);
  p = p * r + all(1.3981999507e-3f);
  p = p * r + all(8.3334519073e-3f);
  p = p * r + all(4.1665795894e-2f);
  p = p * r + all(1.6666665459e-1f);
  p = p * r + all(5.0000001201e-1f);
  p = p * r * r + r + all(1);
  FourInts power = (bits_of(rounded) + 127) << 23;
  return p * (Four)power;
}

// Each row of x (rows, columns), in place.
EXPORTED void softmax(float *x, int rows, int columns) {
  for (int r = 0; r < rows; r++, x += columns) {
    Four most = all(x[0]), sums = all(0);
    int n = 0;
    for (; n + 4 <= columns; n += 4) most = larger(most, load(x + n));
    float largest = largest_of(most), rest = 0;
    for (; n < columns; n++) largest = x[n] > largest ? x[n] : largest;
    for (n = 0; n + 4 <= columns; n += 4) {
      Four e = exponential(load(x + n) - all(largest));
      store(x + n, e);
      sums += e;
    }
    for (; n < columns; n++) rest += x[n] = exponential(all(x[n] - largest))[0];
    float inverse = 1 / (sum(sums) + rest);
    for (n = 0; n < columns; n++) x[n] *= inverse;
  }
}

// Each row of x (rows, width) with mean 0 and variance 1, then times gain plus bias, to y. Width: a multiple of four.
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

// x · Φ(x), in place; erf as in Abramowitz and Stegun 7.1.26, whose error is below 1.5e-7. Count: a multiple of four.
EXPORTED void gelu(float *x, int count) {
  const FourInts SIGN = {1 << 31, 1 << 31, 1 << 31, 1 << 31};
  for (int i = 0; i < count; i += 4) {
    Four z = load(x + i) * all(0.70710678f), size = (Four)((FourInts)z & ~SIGN);
    Four t = all(1) / (all(1) + all(0.3275911f) * size);
    Four p = all(1.061405429f);
    p = p * t + all(-1.453152027f);
    p = p * t + all(1.421413741f);
    p = p * t + all(-0.284496736f);
    p = p * t + all(0.254829592f);
    Four erf = all(1) - p * t * exponential(-size * size);
    erf = (Four)((FourInts)erf | ((FourInts)z & SIGN));
    store(x + i, all(0.5f) * load(x + i) * (all(1) + erf));
  }
}

// x · σ(slope · x + bend · x³), in place: SiLU, the GELU of OpenAI's CLIP, and GELU by tanh, whose x³ bends it. Count: a
// multiple of four.
EXPORTED void gate(float *x, float slope, float bend, int count) {
  for (int i = 0; i < count; i += 4) {
    Four z = load(x + i), inside = z * (all(slope) + all(bend) * z * z);
    store(x + i, z / (all(1) + exponential(-inside)));
  }
}

EXPORTED void relu(float *x, int count) {
  for (int i = 0; i < count; i += 4) store(x + i, larger(load(x + i), all(0)));
}

// -------------------------------------------------------------------------------------------------------- the rest

// x += y. Where count is no multiple of four, numbers of the gap behind x and y are touched, which nobody reads.
EXPORTED void add(float *x, const float *y, int count) {
  for (int i = 0; i < count; i += 4) store(x + i, load(x + i) + load(y + i));
}

// A part of each row, such as one head's, times a number, to a part of y's.
EXPORTED void take(const float *x, int step, float times, int rows, int width, float *y, int y_step) {
  for (int r = 0; r < rows; r++, x += step, y += y_step)
    for (int i = 0; i < width; i++) y[i] = x[i] * times;
}

// x *= y, a part of each row of both.
EXPORTED void multiply(float *x, int step, const float *y, int y_step, int rows, int width) {
  for (int r = 0; r < rows; r++, x += step, y += y_step)
    for (int i = 0; i < width; i++) x[i] *= y[i];
}

// Turns each row of x in place: a number of its first half and one of its second are a point in a plane. The angles'
// sines and cosines are (rows, width / 2).
EXPORTED void rotate(float *x, int step, const float *sin, const float *cos, int rows, int width) {
  int half = width / 2;
  for (int r = 0; r < rows; r++, x += step, sin += half, cos += half)
    for (int i = 0; i < half; i++) {
      float first = x[i], second = x[half + i];
      x[i] = first * cos[i] - second * sin[i];
      x[half + i] = second * cos[i] + first * sin[i];
    }
}

// √(a_r · b_r) of each row; what rounding makes negative is 0.
EXPORTED void root_of_dots(const float *a, int a_step, const float *b, int b_step, int rows, int width, float *out) {
  for (int r = 0; r < rows; r++, a += a_step, b += b_step) {
    float dot = 0;
    for (int i = 0; i < width; i++) dot += a[i] * b[i];
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

// float16 bits of the nearest numbers, of two as near the even one; what is too large becomes the largest. As toHalves
// in core/container.js. Up to seven more are read and written, which nobody reads.
EXPORTED void halves(const float *x, int count, EightShorts *out) {
  for (const float *end = x + count; x < end; x += 8)
    *out++ = __builtin_wasm_narrow_u_i16x8_i32x4(half(load(x)), half(load(x + 4)));
}

// --------------------------------------------------------------------------------------------------------- pictures

enum { BITS = 22, CHANNELS = 4 }; // of fixed point; of a pixel, of which the last is not looked at

static inline FourInts wide(FourBytes x) { return __builtin_convertvector(x, FourInts); }
static inline FourBytes to_bytes(FourInts x) {
  x = __builtin_elementwise_max(x >> BITS, (FourInts){0, 0, 0, 0});
  return __builtin_convertvector(__builtin_elementwise_min(x, (FourInts){255, 255, 255, 255}), FourBytes);
}

// What bicubic.js has laid out: of each of `to` pixels the first one that it is a mixture of, how many there are, and
// `most` weights. A mixture of pixels that lie `apart` pixels from each other, for `lines` lines.
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
