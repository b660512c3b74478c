// The sheet of Share: what is on view, to send on. Here is the picture; a loop and a living page are made by See.
import { makeCanvas, say, show } from "../drawing/dom.js";
import { fileName, handOver, pictureCanvas } from "./saving.js";

const PICTURE_SCALE = 2;
// What is made of each way, into the preview: a blob, or null where it failed or nobody wants it any more.
const SHARED = {
  picture: { make: sharedPicture, end: () => "png" },
  tall: { make: sharedLoop, end: ({ type }) => type.split(/[/;]/)[1] },
  wide: { make: sharedLoop, end: ({ type }) => type.split(/[/;]/)[1] },
  page: { make: sharedPage, end: () => "html" },
};

export function bindShare(lens) {
  const { page } = lens;
  const { refs } = page;
  page.share = { file: null, of: "", round: 0 };
  refs.shareWays.addEventListener(
    "click",
    ({ target }) => target.dataset.share && chooseShared(lens, target.dataset.share),
  );
  refs.shareGo.addEventListener("click", () => passOn(page));
  refs.shareSave.addEventListener("click", () => page.share.file && handOver(page.share.file));
}

// Called when the sheet has been opened.
export function beginShare(lens) {
  const { see, refs } = lens.page;
  for (const button of refs.shareWays.children) {
    const { share } = button.dataset;
    show(button, share === "picture" || Boolean(see?.canShare(share)));
  }
  see?.writeShared();
  chooseShared(lens, "picture");
}

async function chooseShared(lens, of) {
  const { page } = lens;
  const { share, refs } = page;
  const round = ++share.round; // what was being made before is not wanted any more
  const goesOn = () => share.round === round && page.alive && !refs.sendingSheet.hidden;
  Object.assign(share, { file: null, of });
  for (const button of refs.shareWays.children)
    button.setAttribute("aria-pressed", String(button.dataset.share === of));
  offerShared(page);
  say(refs.shareStatus, shareWords(page, "shareMaking", "Making it …"));
  const { make, end } = SHARED[of];
  const blob = await make(lens, of, goesOn).catch(() => null);
  if (!goesOn()) return;
  if (!blob) return say(refs.shareStatus, shareWords(page, "shareFailed", "It could not be made: share the picture."));
  share.file = new File([blob], fileName(lens.choice, lens.frame, end(blob)), { type: blob.type.split(";")[0] });
  offerShared(page);
  const made = shareWords(page, "shareMade", "Made in this browser; it goes nowhere until you send it.");
  const own = lens.data.main.trace.private ? ` ${shareWords(page, "shareOwn", "Your photograph is in it.")}` : "";
  say(refs.shareStatus, made + own);
}

// In the language of See, where that is on view.
const shareWords = ({ see }, key, english) => (see?.on ? see.words(key) : english);

function offerShared({ refs, share }) {
  const { file } = share;
  show(
    refs.shareGo,
    Boolean(navigator.canShare?.({ files: [file ?? new File([""], "a.png", { type: "image/png" })] })),
  );
  for (const button of [refs.shareGo, refs.shareSave]) button.disabled = !file;
}

// To the apps of this phone.
async function passOn(page) {
  const { file } = page.share;
  if (!file) return;
  try {
    await navigator.share({ files: [file], text: page.refs.sentence.textContent });
  } catch (error) {
    if (error.name !== "AbortError") say(page.refs.shareStatus, "This browser could not send it: save it instead.");
  }
}

function putPreview(page, canvas, words) {
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", words);
  page.refs.sharePreview.replaceChildren(canvas);
}

async function sharedPicture(lens) {
  const { page } = lens;
  const canvas = page.see?.on ? page.see.sharedStill() : pictureCanvas(lens, PICTURE_SCALE, false);
  putPreview(page, canvas, `The picture: ${page.refs.sentence.textContent}`);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// It plays on the sheet while it is recorded.
function sharedLoop({ page }, shape, goesOn) {
  const canvas = makeCanvas(1, 1);
  putPreview(page, canvas, `Three seconds: ${page.refs.sentence.textContent}`);
  return page.see.sharedLoop(canvas, shape, goesOn);
}

// One file, which opens alive without a network; the preview is what it begins with.
async function sharedPage(lens) {
  await sharedPicture(lens);
  return new Blob([await lens.page.see.sharedPage()], { type: "text/html" });
}
