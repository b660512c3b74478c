// Text of a lesson as HTML: **bold**, *emphasis*, `code`; W_O, √d_k and e^x as in a formula; everything else is text.

export const markedWords = (text) =>
  text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .split(/(`.+?`)/)
    .map((part) => (part.startsWith("`") ? `<code>${part.slice(1, -1)}</code>` : emphasised(part)))
    .join("");

const emphasised = (text) =>
  text
    .replace(/\*\*(.+?)\*\*/g, "<b>$1</b>")
    .replace(/\*(.+?)\*/g, "<em>$1</em>")
    .replace(/√([A-Za-z]_[A-Za-z]|\d+)/g, '√<span class="under-root">$1</span>')
    .replace(/(?<!\w)([A-Za-z])_([A-Za-z])(?!\w)/g, "<i>$1</i><sub>$2</sub>")
    .replace(/(?<!\w)e\^(?:\(([^)]*)\)|([−-]?(?:∞|\d+(?:\.\d+)?)))/g, "e<sup>$1$2</sup>");

// The same in the text of an SVG, where a letter stands low by moving the pen, and the pen has to come back.
export const lowered = (text) =>
  text.replace(/(√?)(?<!\w)([A-Za-z])_([A-Za-z])(?!\w)/g, (_, root, letter, low) => {
    const bar = root && ' text-decoration="overline"';
    return (
      `${root}<tspan font-style="italic"${bar}>${letter}</tspan>` +
      `<tspan dy="3" font-size="75%">${low}</tspan><tspan dy="-3">\u200b</tspan>`
    );
  });
