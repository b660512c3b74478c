// The worker itself: see computer.js. It asks no network: what it works on is given to it.

import { createComputer } from "./computer.js";
import { help } from "./faster/threads.js";

const computer = createComputer((message, transfer = []) => self.postMessage(message, transfer));
self.addEventListener("message", ({ data }) => (data.what === "help" ? help(data) : computer.hear(data)));
