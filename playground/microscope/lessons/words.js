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

// The same in the text of an SVG, where a letter stands low by moving the pen, and the pen has to come back.
export const lowered = (text) =>
  text
    .replace(/√([A-Za-z]_[A-Za-z])/g, '√<tspan text-decoration="overline">$1</tspan>')
    .replace(
      /(?<!\w)([A-Za-z])_([A-Za-z])(?!\w)/g,
      '<tspan font-style="italic">$1</tspan><tspan dy="3" font-size="75%">$2</tspan><tspan dy="-3">\u200b</tspan>',
    );
