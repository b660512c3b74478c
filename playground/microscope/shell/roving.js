// One stop for the Tab key in a row of buttons, and the arrow keys within it.

// The one of `items` to which a key leads from where the focus is; `keys` are [back, on].
export function nextByKey(event, items, [back, on]) {
  const from = items.indexOf(event.target);
  const to = { [back]: from - 1, [on]: from + 1, Home: 0, End: items.length - 1 }[event.key];
  return from < 0 ? undefined : items[to];
}

export function makeOneStop(items, stop) {
  for (const item of items) item.tabIndex = item === stop ? 0 : -1;
}
