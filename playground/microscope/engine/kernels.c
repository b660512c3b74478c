// What a ViT spends its time on, for WebAssembly with SIMD: products of matrices, softmax, norm, GELU. vit.js calls
// them and says where everything lies. No libc, no allocation. `python -m workshop.kernels` compiles this file.

typedef float Four __attribute__((vector_size(16), aligned(4)));
typedef int FourInts __attribute__((vector_size(16)));
typedef signed char Int8;

#define EXPORTED __attribute__((visibility("default")))
#define UNROLLED _Pragma("clang loop unroll(full)")

static inline Four all(float x) { return (Four){x, x, x, x}; }
static inline Four load(const float *from) { return *(const Four *)from; }
static inline void store(float *to, Four x) { *(Four *)to = x; }
static inline float sum(Four x) { return x[0] + x[1] + x[2] + x[3]; }

// ------------------------------------------------------------------------------------------------------- products

enum { INT8, ROWS, COLUMNS }; // how the second matrix lies: see `product`
enum { WIDE = 8, DEEP = 384, BLOCK = 32 };

// WIDE columns of the second matrix, DEEP numbers of each, side by side: small enough for the fastest cache.
static float panel[DEEP * WIDE] __attribute__((aligned(16)));

// Numbers first … first + deep of column n of the second matrix, into the panel.
static void fill(const void *b, int step, int kind, const float *gains, int inner, int n, int first, int deep, int at) {
  if (kind == INT8) {
    const Int8 *codes = (const Int8 *)b + n * step + first;
    const float *gain = gains + n * ((inner + BLOCK - 1) / BLOCK) + first / BLOCK;
    for (int k = 0; k < deep; k++) panel[k * WIDE + at] = codes[k] * gain[k / BLOCK];
  } else if (kind == ROWS) {
    const float *row = (const float *)b + n * step + first;
    for (int k = 0; k < deep; k++) panel[k * WIDE + at] = row[k];
  } else {
    const float *column = (const float *)b + first * step + n;
    for (int k = 0; k < deep; k++) panel[k * WIDE + at] = column[k * step];
  }
}

// COUNT rows of `a` times the panel, added to `out`; COUNT is a number, so that the sums stay in registers.
#define TIMES_PANEL(COUNT)                                                                                           \
  static void times_panel_##COUNT(const float *a, int a_step, int deep, float *out, int out_step, int wide) {        \
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
    for (int r = 0; r < COUNT; r++, out += out_step) {                                                               \
      if (wide == WIDE) {                                                                                            \
        store(out, load(out) + sums[r][0]);                                                                          \
        store(out + 4, load(out + 4) + sums[r][1]);                                                                  \
      } else                                                                                                         \
        for (int n = 0; n < wide; n++) out[n] += sums[r][n / 4][n % 4];                                              \
    }                                                                                                                \
  }
TIMES_PANEL(6)
TIMES_PANEL(4)
TIMES_PANEL(2)
TIMES_PANEL(1)

// out (rows, columns) = a (rows, inner) · b + bias. `kind` says how b lies: INT8 (columns, inner) codes, to be
// multiplied with the gain of their block of 32; ROWS (columns, inner) floats; COLUMNS (inner, columns) floats. A
// step is the distance from one row to the next, in numbers.
EXPORTED void product(const float *a, int a_step, const void *b, int b_step, int kind, const float *gains,
                      const float *bias, int rows, int inner, int columns, float *out, int out_step) {
  for (int r = 0; r < rows; r++)
    for (int n = 0; n < columns; n++) out[r * out_step + n] = bias ? bias[n] : 0;
  for (int n = 0; n < columns; n += WIDE) {
    int wide = columns - n < WIDE ? columns - n : WIDE;
    for (int first = 0; first < inner; first += DEEP) {
      int deep = inner - first < DEEP ? inner - first : DEEP;
      for (int i = 0; i < wide; i++) fill(b, b_step, kind, gains, inner, n + i, first, deep, i);
      const float *x = a + first;
      float *y = out + n;
      int left = rows;
      for (; left >= 6; left -= 6, x += 6 * a_step, y += 6 * out_step) times_panel_6(x, a_step, deep, y, out_step, wide);
      if (left >= 4) times_panel_4(x, a_step, deep, y, out_step, wide), left -= 4, x += 4 * a_step, y += 4 * out_step;
      if (left >= 2) times_panel_2(x, a_step, deep, y, out_step, wide), left -= 2, x += 2 * a_step, y += 2 * out_step;
      if (left) times_panel_1(x, a_step, deep, y, out_step, wide);
    }
  }
}

// ---------------------------------------------------------------------------------------- softmax, norm, activation

// e^x = 2^n · e^r with |r| ≤ ln 2 / 2, and a polynomial for e^r (Cephes): relative error below 2e-7.
static inline Four exponential(Four x) {
  x = __builtin_wasm_min_f32x4(__builtin_wasm_max_f32x4(x, all(-87)), all(88));
  Four n = __builtin_wasm_floor_f32x4(x * all(1.44269504f) + all(0.5f));
  Four r = x - n * all(0.693359375f) - n * all(-2.12194440e-4f);
  Four p = all(1.9875691500e-4f);
  p = p * r + all(1.3981999507e-3f);
  p = p * r + all(8.3334519073e-3f);
  p = p * r + all(4.1665795894e-2f);
  p = p * r + all(1.6666665459e-1f);
  p = p * r + all(5.0000001201e-1f);
  p = p * r * r + r + all(1);
  FourInts power = (__builtin_convertvector(n, FourInts) + 127) << 23;
  return p * (Four)power;
}

// Each row of x (rows, columns), in place.
EXPORTED void softmax(float *x, int rows, int columns) {
  for (int r = 0; r < rows; r++, x += columns) {
    float largest = x[0], rest = 0;
    for (int n = 1; n < columns; n++) largest = x[n] > largest ? x[n] : largest;
    Four sums = all(0);
    int n = 0;
    for (; n + 4 <= columns; n += 4) {
      Four e = exponential(load(x + n) - all(largest));
      store(x + n, e);
      sums += e;
    }
    for (; n < columns; n++) rest += x[n] = exponential(all(x[n] - largest))[0];
    float total = sum(sums) + rest;
    for (n = 0; n < columns; n++) x[n] /= total;
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

// -------------------------------------------------------------------------------------------------------- the rest

// x += y. Where count is no multiple of four, numbers of the gap behind x and y are touched, which nobody reads.
EXPORTED void add(float *x, const float *y, int count) {
  for (int i = 0; i < count; i += 4) store(x + i, load(x + i) + load(y + i));
}

// One head's part of each row: x (rows, width of the head) times a number, to y without gaps.
EXPORTED void take(const float *x, int step, float times, int rows, int width, float *y) {
  for (int r = 0; r < rows; r++, x += step, y += width)
    for (int i = 0; i < width; i++) y[i] = x[i] * times;
}

// √(a_r · b_r) of each row; what rounding makes negative is 0.
EXPORTED void root_of_dots(const float *a, int a_step, const float *b, int b_step, int rows, int width, float *out) {
  for (int r = 0; r < rows; r++, a += a_step, b += b_step) {
    float dot = 0;
    for (int i = 0; i < width; i++) dot += a[i] * b[i];
    out[r] = __builtin_sqrtf(dot > 0 ? dot : 0);
  }
}
