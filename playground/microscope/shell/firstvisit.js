// Whether this browser has been here before. It is written here alone; the server is not told.

const BEEN_HERE = "attention-playground-been-here";

// A newcomer is greeted, once. Where a browser keeps nothing nobody is: they would be greeted each time.
export function greetOnce(lens) {
  try {
    if (!localStorage.getItem(BEEN_HERE)) lens.greet(() => localStorage.setItem(BEEN_HERE, "yes"));
  } catch {
    // storage is forbidden
  }
}
