// What these modules read of Streamlit's page, which Streamlit does not promise to keep. Tried with Streamlit 1.67;
// tests/ui/test_streamlit_private.py fails when a part is gone, and counts them. Python's share is in
// ui/streamlit_private.py.

export const MAIN = "stMain"; //             a data-testid: what scrolls
export const CONNECTION = "data-test-connection-state"; // an attribute
export const APP = '[data-testid="stApp"]'; // a selector: the whole page
export const SKIP = "stSkipToContent"; //    a data-testid: the link past everything, for the keyboard

export const partOfStreamlit = (id, within = document) => within.querySelector(`[data-testid="${id}"]`);
export const hasConnected = () => Boolean(document.querySelector(`[${CONNECTION}=CONNECTED]`));
export const isConnected = () => !document.querySelector(`[${CONNECTION}]:not([${CONNECTION}=CONNECTED])`);
export const isWithin = (element, id) => Boolean(element.closest?.(`[data-testid="${id}"]`));
