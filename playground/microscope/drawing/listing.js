// Turns formulas, lines of Python and texts of lessons into HTML. A formula is plain text in which _ lowers and ^
// raises the next letter, or the text in braces.

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const KEYWORDS = /\b(class|def|return|if|else|for|in|is|not|None|self|super|lambda)\b/g;
const ROLE_OF = { Q: "query", K: "key", V: "value" };

export function formulaHtml(text) {
  return escaped(text)
    .replace(/([_^])(\{([^}]*)\}|[^\s{}])/g, (_, sign, script, bracedText) =>
      sign === "_" ? `<sub>${bracedText ?? script}</sub>` : `<sup>${bracedText ?? script}</sup>`,
    )
    .replace(/[QKV]/g, (letter) => `<b class="${ROLE_OF[letter]}">${letter}</b>`);
}

// A line of code as HTML. `mark`: the part of the line to highlight, or "".
export function codeHtml(text, mark = "") {
  const start = mark ? text.indexOf(mark) : -1;
  if (start < 0) return highlightedCode(text);
  const [before, after] = [text.slice(0, start), text.slice(start + mark.length)];
  return `${highlightedCode(before)}<mark>${highlightedCode(mark)}</mark>${highlightedCode(after)}`;
}

function highlightedCode(text) {
  const commentStart = text.search(/(^|\s)#\s/);
  const code = commentStart < 0 ? text : text.slice(0, commentStart);
  const words = escaped(code).replace(KEYWORDS, "<i>$1</i>");
  return commentStart < 0 ? words : `${words}<span class="comment">${escaped(text.slice(commentStart))}</span>`;
}

// For each line, whether it is part of a docstring, quotes included.
export function docstringFlags(lines) {
  let insideDocstring = false;
  return lines.map((line) => {
    const quotes = (line.match(/"""/g) ?? []).length;
    const isDocstring = insideDocstring || (quotes > 0 && line.trim().startsWith('"""'));
    if (quotes % 2) insideDocstring = !insideDocstring;
    return isDocstring;
  });
}

// Text of a lesson as HTML: **bold**, *emphasis*, `code`, and mathematics such as W_O, √d_k and e^x. Other characters
// are kept.

export const markedWords = (text) =>
  text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .split(/(`.+?`)/)
    .map((part) => (part.startsWith("`") ? `<code>${part.slice(1, -1)}</code>` : emphasised(part)))
    .join("");

// Several paragraphs of a lesson's text as HTML. Lines that begin with a dash become a list; :blue[…], :orange[…] and
// :green[…] get the colours of queries, keys and values.
export const markedBlocks = (text) =>
  text
    .split("\n\n")
    .map((block) => (block.startsWith("- ") ? bulletsOf(block.slice(2).split("\n- ")) : `<p>${markedWords(block)}</p>`))
    .join("")
    .replace(/:(blue|orange|green)\[(.+?)\]/g, '<span class="in-$1">$2</span>');

const bulletsOf = (lines) => `<ul>${lines.map((line) => `<li>${markedWords(line)}</li>`).join("")}</ul>`;

const emphasised = (text) =>
  text
    .replace(/\*\*(.+?)\*\*/g, "<b>$1</b>")
    .replace(/\*(.+?)\*/g, "<em>$1</em>")
    .replace(/√([A-Za-z]_[A-Za-z]|\d+)/g, '<span class="root">√<span class="under-root">$1</span></span>')
    .replace(/(?<!\w)([A-Za-z])_([A-Za-z])(?!\w)/g, "<i>$1</i><sub>$2</sub>")
    .replace(/(?<!\w)e\^(?:\(([^)]*)\)|([−-]?(?:∞|\d+(?:\.\d+)?)))/g, "e<sup>$1$2</sup>");

// Writes a_b in the text of an SVG as a letter with a subscript. dy lowers all following letters, too, so an opposite
// dy ends the subscript.
export const withSubscripts = (text) =>
  text.replace(/(√?)(?<!\w)([A-Za-z])_([A-Za-z])(?!\w)/g, (_, root, letter, subscript) => {
    const overline = root && ' text-decoration="overline"';
    return (
      `${root}<tspan font-style="italic"${overline}>${letter}</tspan>` +
      `<tspan dy="3" font-size="75%">${subscript}</tspan><tspan dy="-3">\u200b</tspan>`
    );
  });

// Source code with formulas beside its lines. data: {parts: [{file, lines: [{number, text, mark, formula}]}]}

export function sourceRead({ data, parentElement }) {
  const root = parentElement.querySelector("[data-read]") ?? parentElement;
  root.innerHTML = data.parts.map(({ file, lines }) => `<p>${file}</p>${rowsHtml(lines)}`).join("");
}

function rowsHtml(lines) {
  const inDocstring = docstringFlags(lines.map((line) => line.text));
  return lines
    .map(({ number, text, mark, formula }, i) => {
      const code = inDocstring[i] ? `<span class="comment">${codeHtml(text)}</span>` : codeHtml(text, mark);
      const formulaTag = formula ? `<em>${formulaHtml(formula)}</em>` : "";
      return `<div class="${formula ? "noted" : ""}"><s>${number}</s><code>${code}</code>${formulaTag}</div>`;
    })
    .join("");
}
