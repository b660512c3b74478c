// What these modules read of Streamlit's page, which Streamlit does not promise to keep. Tried with Streamlit 1.67;
// tests/ui/test_streamlit_private.py fails when a part is gone. Python's share is in ui/streamlit_private.py.

export const CONNECTION = "data-test-connection-state"; // an attribute of the app: whether it has a server
export const RUN = "data-test-script-state"; //           and whether a run of the page goes on
export const UPLOADER = "stFileUploader"; //              a data-testid: Streamlit's own box for files
export const MAIN = "stMain"; //                          a data-testid: what scrolls

export const partOfStreamlit = (id) => document.querySelector(`[data-testid="${id}"]`);
