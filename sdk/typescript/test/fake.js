// A server that is honest until a call says `fault`, and then goes wrong in one way. Its
// honest answers are: `ls` is allowed, everything else is not.

import { createInterface } from "node:readline";

const mode = process.argv[2];

const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

const judgement = (id, allowed) => ({
  id,
  verdict: allowed ? "allow" : "block",
  by: allowed ? null : { kind: "guard", name: "guard" },
  code: allowed ? null : "guard/rm",
  fault: null,
  reason: allowed ? null : "Blocked by the guard plugin: no.",
  auto_approved: false,
  micros: 1,
  permit: allowed ? { id: "permit-1", tool: "bash", digest: "00" } : null,
});

const allow = (id) => judgement(id, true);

/** What a call that says `fault` is answered. */
const FAULTS = {
  silent: () => {},
  exit: () => process.exit(0),
  killed: () => process.kill(process.pid, "SIGKILL"),
  garbage: () => process.stdout.write("thread 'main' panicked\n"),
  "half a line": (id) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: allow("c1") }).slice(0, 40)),
  "no utf-8": () => process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a])),
  "a list": (id) => process.stdout.write(JSON.stringify([{ jsonrpc: "2.0", id, result: allow("c1") }]) + "\n"),
  "another version": (id) => process.stdout.write(JSON.stringify({ id, result: allow("c1") }) + "\n"),
  "another id": (id) => say({ id: id + 1000, result: allow("c1") }),
  "no id": () => say({ id: null, error: { code: -32700, message: "?" } }),
  both: (id) => say({ id, result: allow("c1"), error: { code: 1, message: "?" } }),
  neither: (id) => say({ id }),
  error: (id) => say({ id, error: { code: -32603, message: "the server failed inside", data: { code: "wire/internal", fault: "internal" } } }),
  "an odd error": (id) => say({ id, error: "no" }),
  null: (id) => say({ id, result: null }),
  true: (id) => say({ id, result: true }),
  "another verdict": (id) => say({ id, result: { ...allow("c1"), verdict: "Allow" } }),
  "no verdict": (id) => say({ id, result: { ...allow("c1"), verdict: undefined } }),
  "no permit": (id) => say({ id, result: { ...allow("c1"), permit: null } }),
  "an allow with a fault": (id) => say({ id, result: { ...allow("c1"), fault: "trap" } }),
  "an allow with a reason": (id) => say({ id, result: { ...allow("c1"), reason: "no" } }),
  "another call": (id) => say({ id, result: allow("c2") }),
  "a block without a reason": (id) => say({ id, result: { ...judgement("c1", false), reason: null } }),
};

const answers = {
  initialize: () => ({ protocol: mode === "newer" ? "1.9" : mode === "old" ? "0.9" : "1.0", server: {} }),
  "session/open": () => ({ outcome: "open", refusal: null, hooks: [], session_id: "s1" }),
  "turn/begin": () => ({ turn_id: "t1", prompt: null }),
  "turn/end": () => ({ outcome: "ends", refusal: null, hooks: [] }),
};

if (mode === "says nothing") setInterval(() => {}, 1000);
if (mode === "prints first") process.stdout.write("Welcome!\n");

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || mode === "says nothing") return;
    if (method === "initialize" && mode === "refuses") {
      const data = { code: "wire/version", fault: "bad-input", supported: ["7.0"] };
      return say({ id, error: { code: -32001, message: "protocol version `1.0` is not spoken here", data } });
    }
    if (method !== "beforeToolCall") return say({ id, result: answers[method]() });
    const { command } = params.input;
    if (command === "fault" && FAULTS[mode]) return FAULTS[mode](id);
    say({ id, result: judgement(params.id ?? "", command === "ls") });
  })
  .on("close", () => process.exit(0));
