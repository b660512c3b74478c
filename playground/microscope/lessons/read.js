// Source code with formulas beside the lines that they stand for.
//
// data: {parts: [{file, lines: [{number, text, mark, formula}]}]}

import { codeHtml, docstrings, formulaHtml } from "../drawing/listing.js";

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("[data-read]") ?? parentElement;
  root.innerHTML = data.parts.map(({ file, lines }) => `<p>${file}</p>${rows(lines)}`).join("");
}

function rows(lines) {
  const inDocstring = docstrings(lines.map((line) => line.text));
  return lines
    .map(({ number, text, mark, formula }, i) => {
      const code = inDocstring[i] ? `<span class="comment">${codeHtml(text)}</span>` : codeHtml(text, mark);
      const beside = formula ? `<em>${formulaHtml(formula)}</em>` : "";
      return `<div class="${formula ? "noted" : ""}"><s>${number}</s><code>${code}</code>${beside}</div>`;
    })
    .join("");
}
