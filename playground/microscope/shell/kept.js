// Short texts that this browser keeps. Where storage is forbidden or full, they last as long as the page.

const inMemory = new Map();

export function keptText(name) {
  try {
    return inMemory.get(name) ?? localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keepText(name, text) {
  inMemory.delete(name);
  try {
    localStorage.setItem(name, text);
  } catch {
    inMemory.set(name, text);
  }
}
