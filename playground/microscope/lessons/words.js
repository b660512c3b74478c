// Text of a lesson as HTML: **bold**, *emphasis*, `code`; W_O and √d_k as in a formula; everything else is text.

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
    .replace(/√([A-Za-z]_[A-Za-z]|\d+)/g, '√<span style="text-decoration: overline">$1</span>')
    .replace(/(?<!\w)([A-Za-z])_([A-Za-z])(?!\w)/g, "<i>$1</i><sub>$2</sub>");

// The same in the text of an SVG, where nothing stands low: there is a small k of its own.
export const lowered = (text) =>
  text.replace(/√d_k/g, '√<tspan text-decoration="overline">dₖ</tspan>').replace(/\bd_k\b/g, "dₖ");
