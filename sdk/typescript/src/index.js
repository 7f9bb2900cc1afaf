/**
 * Asks Portcullis before an agent loop runs a tool.
 *
 * Nothing here throws because of the gate: whatever goes wrong is a refusal, and a loop that
 * runs only what is allowed needs no other check.
 */

export { Gate } from "./gate.js";
export { PROTOCOL } from "./connection.js";
