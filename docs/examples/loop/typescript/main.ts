// Prints one conversation.

import { Gate } from "portcullis-client";

import { converse } from "./loop.js";
import { Scripted } from "./model.js";

const gate = await Gate.spawn({ cwd: process.cwd() });
const model = new Scripted([[["Bash", { command: "git status" }], ["Bash", { command: "rm -rf build" }]], "I could not delete the build directory."]);
for (const line of await converse(gate, model, process.cwd(), "Clean up.")) console.log(line);
await gate.close();
