// Short texts that this browser keeps. Where storage is forbidden or full, they last as long as the page.

const inMemory = new Map();
const usual = () => localStorage;

export function keptText(name, storage = usual) {
  try {
    return inMemory.get(name) ?? storage().getItem(name);
  } catch {
    return null;
  }
}

export function keepText(name, text, storage = usual) {
  inMemory.delete(name);
  try {
    storage().setItem(name, text);
  } catch {
    inMemory.set(name, text);
  }
}
