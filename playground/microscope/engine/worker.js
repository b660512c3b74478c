// The worker itself: see computer.js. It asks no network: what it works on is given to it.

import { createComputer } from "./computer.js";

const computer = createComputer((message, moved = []) => self.postMessage(message, moved));
self.addEventListener("message", ({ data }) => computer.hear(data));
