// The worker that runs computer.js. It loads nothing: all data comes in messages.

import { createComputer } from "./computer.js";

const computer = createComputer((message, transfer = []) => self.postMessage(message, { transfer }));
self.addEventListener("message", ({ data }) => computer.hear(data));
