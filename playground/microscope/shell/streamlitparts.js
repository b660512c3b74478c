// What these modules read of Streamlit's page, which Streamlit does not promise to keep. Tried with Streamlit 1.67;
// tests/ui/test_streamlit_private.py fails when a part is gone. Python's share is in ui/streamlit_*.py.

export const CONNECTION = "data-test-connection-state"; // an attribute of the app: whether it has a server
export const RUN = "data-test-script-state"; //           and whether a run of the page goes on
export const UPLOADER = "stFileUploader"; //              a data-testid: Streamlit's own box for files
export const MAIN = "stMain"; //                          a data-testid: what scrolls

export const SKIP = "stSkipToContent"; //             a data-testid: the link past everything, for the keyboard
export const TOAST = "stToast"; //                    a data-testid: a sentence in a corner of the page
export const TOAST_ICON = "stToastDynamicIcon"; //    a data-testid: its icon, by name

const called = (id) => `[data-testid="${id}"]`;

export const partOfStreamlit = (id, within = document) => within.querySelector(called(id));
export const partsOfStreamlit = (id) => [...document.querySelectorAll(called(id))];
export const isWithin = (element, id) => Boolean(element.closest?.(called(id)));

// As Streamlit's own box for files does it; the token is in a cookie of Streamlit's. Gives the file's name there, and
// whether it arrived.
export async function uploadFile(uploads, blob, title) {
  const name = `own-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const token = /(?:^|; )_streamlit_xsrf=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const body = new FormData();
  body.append("file", blob, title);
  const where = new URL(`${uploads.replace(/^\//, "")}/${name}`, location.href); // the app may lie in a folder
  const answer = await fetch(where, { method: "PUT", body, headers: { "X-Xsrftoken": token } }).catch(() => null);
  return { file: name, arrived: answer?.ok ?? false };
}
