// Formulas and lines of Python as HTML. A formula is plain text: _ lowers and ^ raises the next letter, or what stands
// in braces.

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const KEYWORDS = /\b(class|def|return|if|else|for|in|is|not|None|self|super|lambda)\b/g;
const ROLE_OF = { Q: "query", K: "key", V: "value" };

export function formulaHtml(text) {
  return escaped(text)
    .replace(/([_^])(\{([^}]*)\}|[^\s{}])/g, (_, way, whole, inner) =>
      way === "_" ? `<sub>${inner ?? whole}</sub>` : `<sup>${inner ?? whole}</sup>`,
    )
    .replace(/[QKV]/g, (letter) => `<b class="${ROLE_OF[letter]}">${letter}</b>`);
}

// One line of code, with one piece of it marked.
export function codeHtml(text, mark = "") {
  const at = mark ? text.indexOf(mark) : -1;
  if (at < 0) return coloured(text);
  return `${coloured(text.slice(0, at))}<mark>${coloured(mark)}</mark>${coloured(text.slice(at + mark.length))}`;
}

function coloured(text) {
  const comment = text.search(/(^|\s)#\s/);
  const code = comment < 0 ? text : text.slice(0, comment);
  const words = escaped(code).replace(KEYWORDS, "<i>$1</i>");
  return comment < 0 ? words : `${words}<span class="comment">${escaped(text.slice(comment))}</span>`;
}

// Which lines belong to a docstring, its quotes included.
export function docstrings(lines) {
  let inside = false;
  return lines.map((line) => {
    const quotes = (line.match(/"""/g) ?? []).length;
    const belongs = inside || (quotes > 0 && line.trim().startsWith('"""'));
    if (quotes % 2) inside = !inside;
    return belongs;
  });
}
