// The sheet under a button: one for the whole toolbar, so that only one is ever open.
//
// It lies in the browser's top layer (popover), where nothing of the page can cover it or cut it off. Escape, a press
// outside and the Tab key past its end close it; then its button has the focus again, unless another thing took it.

const SHEET_EDGE = 8; // px that stay free between a sheet and the window's edge
const SHEET_GAP = 6; //  px between a button and its sheet
const LOW_ROOM = 260; // px of room below a button with which a sheet takes the whole height instead

export function createSheet() {
  const sheet = document.createElement("div");
  sheet.className = "sheet";
  sheet.tabIndex = -1;
  sheet.setAttribute("popover", "manual");
  sheet.setAttribute("role", "dialog");
  let [opener, ending, redraw] = [null, null, null];

  // fill(box, signal) writes what stands in it; `signal` is aborted when the sheet closes. It may give a function that
  // brings it up to date when the choice changes.
  function open(button, kind, label, fill) {
    close();
    [opener, ending] = [button, new AbortController()];
    button.setAttribute("aria-expanded", "true");
    sheet.setAttribute("aria-label", label);
    sheet.dataset.kind = kind;
    button.after(sheet); // the Tab key goes on where the button stands
    const box = document.createElement("div");
    box.className = "sheet-box";
    sheet.replaceChildren(box);
    redraw = fill(box, ending.signal) ?? null;
    sheet.classList.add("open");
    sheet.showPopover?.();
    listen(ending.signal);
    putInPlace();
    (sheet.querySelector("[aria-current]") ?? sheet).focus({ preventScroll: true });
  }

  function close({ focusBack = true } = {}) {
    if (!opener) return;
    const [button, hadFocus] = [opener, sheet.getRootNode().activeElement];
    ending.abort();
    [opener, ending, redraw] = [null, null, null];
    sheet.classList.remove("open");
    sheet.hidePopover?.();
    button.setAttribute("aria-expanded", "false");
    if (focusBack && (sheet.contains(hadFocus) || nothingHasFocus())) button.focus({ preventScroll: true });
    sheet.remove();
    sheet.replaceChildren();
  }

  function listen(signal) {
    const press = (event) => {
      const path = event.composedPath();
      if (path.includes(sheet) || path.includes(opener)) return; // the button itself closes it with its click
      const button = opener;
      close();
      const comeBack = () => nothingHasFocus() && button.focus({ preventScroll: true });
      document.addEventListener("click", comeBack, { once: true }); // after the press has taken the focus away
    };
    const byKey = (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation(); // the microscope under it keeps its lock
      close();
    };
    const leave = ({ relatedTarget }) => {
      if (relatedTarget && relatedTarget !== opener && !sheet.contains(relatedTarget)) close({ focusBack: false });
    };
    document.addEventListener("pointerdown", press, { signal, capture: true });
    document.addEventListener("keydown", byKey, { signal, capture: true });
    document.addEventListener("scroll", putInPlace, { signal, capture: true });
    window.addEventListener("resize", putInPlace, { signal });
    sheet.addEventListener("focusout", leave, { signal });
    const grows = new ResizeObserver(putInPlace);
    grows.observe(sheet);
    signal.addEventListener("abort", () => grows.disconnect());
  }

  function putInPlace() {
    if (!opener) return;
    const at = opener.getBoundingClientRect();
    if (opener.checkVisibility?.() === false) return close(); // a wider window has no *More*
    const [across, down] = [document.documentElement.clientWidth, window.innerHeight];
    const below = Math.max(SHEET_EDGE, at.bottom + SHEET_GAP);
    const top = down - below < LOW_ROOM ? SHEET_EDGE : below;
    const left = Math.max(SHEET_EDGE, Math.min(at.left, across - SHEET_EDGE - sheet.offsetWidth));
    Object.assign(sheet.style, { left: `${left}px`, top: `${top}px`, maxHeight: `${down - top - SHEET_EDGE}px` });
  }

  return {
    open,
    close,
    opener: () => opener,
    redraw: () => redraw?.(),
  };
}

const nothingHasFocus = () => [null, document.body].includes(document.activeElement);
