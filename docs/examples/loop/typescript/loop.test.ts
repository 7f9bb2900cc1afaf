// The whole loop against the program: `PORTCULLIS_BIN`.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { Gate } from "portcullis-client";

import { converse } from "./loop.js";
import { type Model, type Reply, type Request, Scripted } from "./model.js";

async function place(t: TestContext): Promise<{ gate: Gate; cwd: string }> {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-loop-"));
  const cwd = join(dir, "work");
  mkdirSync(cwd);
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: dir,
    XDG_CACHE_HOME: process.env["PORTCULLIS_TEST_CACHE"] ?? join(dir, "cache"),
    XDG_STATE_HOME: process.env["PORTCULLIS_TEST_STATE"] ?? join(dir, "state"),
  };
  const gate = await Gate.spawn({ command: process.env["PORTCULLIS_BIN"] ?? "portcullis", cwd, env });
  t.after(async () => {
    await gate.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { gate, cwd };
}

test("the loop runs to its end, and what is refused does not happen", async (t) => {
  const { gate, cwd } = await place(t);
  const model = new Scripted([
    [["Write", { file_path: "build.log", content: "done\n" }]],
    [["Bash", { command: "rm -rf build.log" }], ["Bash", { command: "cat build.log" }], ["Bash", { command: "exit 3" }]],
    [["launch_rocket", {}], ["find_tools", { query: "date and time" }]],
    [["current_time", {}]],
    "I could not delete the log.",
  ]);
  const told = await converse(gate, model, cwd, "Clean up.");
  assert.equal(readFileSync(join(cwd, "build.log"), "utf8"), "done\n");
  const expected = [
    "user: Clean up.",
    "Write: wrote build.log",
    "Bash: Blocked by the guard plugin: ",
    "Bash: done\n",
    "Bash: The tool failed: ",
    "launch_rocket: there is no tool `launch_rocket`",
    "find_tools: current_time: ",
    "current_time: ",
    "model: I could not delete the log.",
  ];
  assert.equal(told.length, expected.length, told.join("\n"));
  for (const [at, line] of expected.entries()) assert.ok(told[at]?.startsWith(line), `${told[at]}\n${line}`);
  const [first, , , last] = model.requests;
  assert.ok(first?.system.includes("The guard plugin refuses"));
  assert.ok(first?.tools.some((tool) => tool.name === "current_time"));
  assert.ok(last?.messages.some((message) => message.content.startsWith("Blocked by the guard")));
});

test("when the gate is gone in the middle of it, nothing runs any more", async (t) => {
  const { gate, cwd } = await place(t);
  const scripted = new Scripted([
    [["Write", { file_path: "before", content: "" }]],
    [["Write", { file_path: "after", content: "" }], ["Bash", { command: "touch after" }], ["current_time", {}]],
    "Nothing works any more.",
  ]);
  const model: Model = {
    async answer(request: Request): Promise<Reply> {
      if (scripted.requests.length === 1) await gate.close();
      return scripted.answer(request);
    },
  };
  const told = await converse(gate, model, cwd, "Go.");
  assert.equal(existsSync(join(cwd, "before")), true);
  assert.equal(existsSync(join(cwd, "after")), false);
  const refused = told.filter((line) => line.includes("Portcullis did not judge this call: the connection to it was lost"));
  assert.equal(refused.length, 3, told.join("\n"));
  assert.equal(told.at(-1), "model: Nothing works any more.");
});
