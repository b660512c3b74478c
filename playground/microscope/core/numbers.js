// Numbers as text. No DOM in here.

// "64 %", "3.4 %", "0.34 %". A share above 0 never reads "0 %", a share below 1 never "100 %". playground/numbers.py
// has the same rule.
export function percent(share) {
  if (share === 0) return "0 %";
  if (share < 0.00005) return "< 0.01 %";
  if (share >= 0.99995 && share < 1) return "> 99.99 %";
  return `${(100 * share).toFixed(digitsOf(share))} %`;
}

function digitsOf(share) {
  if (share >= 0.995 && share < 1) return share < 0.9995 ? 1 : 2;
  return share >= 0.0995 ? 0 : share >= 0.00995 ? 1 : 2;
}

// A share in per cent without the sign, short enough to be written on a patch.
export const bareShare = (x) => (x >= 0.0995 ? String(Math.round(100 * x)) : (100 * x).toFixed(1));

export const shortNumber = (x) => {
  const magnitude = Math.abs(x);
  const text =
    magnitude === 0
      ? "0"
      : magnitude >= 100
        ? x.toFixed(0)
        : magnitude >= 10
          ? x.toFixed(1)
          : magnitude >= 0.1
            ? x.toFixed(2)
            : x.toPrecision(1);
  return text.replace("-", "\u2212");
};

// Two numbers with enough digits to differ: never "from 1.4 %, up to 1.4 %". The same as told_apart in
// figures/drawing/captions.py.
export function toldApart(smaller, larger, format) {
  let texts = [smaller, larger].map(format);
  const [factor, unit] = texts[0].endsWith("%") ? [100, " %"] : [1, ""];
  for (let digits = 3; texts[0] === texts[1] && digits < 8; digits++)
    texts = [smaller, larger].map((x) => `${(factor * x).toPrecision(digits)}${unit}`);
  return texts;
}

// Fills the {name}s of a sentence; numbers among the values are written as the language writes them.
export const filledIn = (language, sentence, values = {}) =>
  sentence.replace(/\{(\w+)\}/g, (match, name) => localNumber(language, values[name] ?? match));

const DECIMAL_NUMBER = /^[^\w]*\d+\.\d+(e.\d+)?[\s%]*$/; // a number as text, no version and no name

const COMMA_LANGUAGES = ["de", "es", "fr"]; // where a comma stands before the decimals

export const localNumber = (language, text) =>
  COMMA_LANGUAGES.includes(language) && DECIMAL_NUMBER.test(text) ? String(text).replace(".", ",") : text;
