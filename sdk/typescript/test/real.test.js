// The client against the real program.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

import { Gate } from "../src/index.js";
import { PROGRAM, guarded, isFault, isServed, place, real, turn } from "./support.js";

test("a loop is served by a process of its own", async (t) => {
  const here = place(t);
  const gate = await real(t, here);
  assert.equal(gate.failure, null);
  const session = await gate.openSession({ cwd: here.cwd, sessionId: "s1" });
  assert.deepEqual([session.id, session.started.outcome, session.failure], ["s1", "open", null]);
  const turn = await session.beginTurn({ prompt: "clean up" });
  assert.equal(turn.prompt.outcome, "handed_on");
  await isServed(here, turn);
  const call = { tool: "Bash", input: { command: "ls" }, id: "c9" };
  assert.equal((await turn.afterToolCall(call, "README.md")).outcome, "stands");
  assert.equal((await turn.subagentStop({ words: "done" })).outcome, "ends");
  assert.equal((await turn.end({ words: "done" })).outcome, "ends");
  isFault(await guarded(here, turn, "ls"), "wire/unknown", "bad-input");
  assert.equal((await session.compact()).outcome, "fine");
  assert.equal((await session.close()).outcome, "fine");
  await gate.close();
  isFault(await guarded(here, turn, "ls"), "client/lost", "internal");
});

test("what is allowed is what was judged, whatever becomes of the original", async (t) => {
  const here = place(t);
  const own = await turn(await real(t, here));
  const input = { command: "ls" };
  const waiting = own.beforeToolCall({ tool: "Bash", input });
  input.command = "rm -rf /";
  const verdict = await waiting;
  assert.equal(verdict.allowed, true);
  assert.deepEqual(verdict.input, { command: "ls" });
  assert.throws(() => (verdict.input.command = "rm -rf /"), TypeError);
  const tricky = { toJSON: () => ({ command: "rm -rf build" }), command: "ls" };
  assert.equal((await own.beforeToolCall({ tool: "Bash", input: tricky })).code, "guard/rm");
  const circle = {};
  circle.self = circle;
  isFault({ verdict: await own.beforeToolCall({ tool: "Bash", input: circle }), ran: false }, "client/input", "bad-input");
  for (const odd of [undefined, 7n]) {
    assert.equal((await own.beforeToolCall({ tool: "Bash", input: odd })).allowed, false);
  }
  await isServed(here, own);
});

test("a tool of a plugin runs with its permit, once, or is judged first", async (t) => {
  const here = place(t);
  const own = await turn(await real(t, here));
  const call = { tool: "current_time", input: {} };
  const verdict = await own.beforeToolCall(call);
  assert.equal(verdict.allowed, true);
  const ran = await own.callTool(verdict);
  assert.deepEqual([ran.ran, ran.isError, ran.content[0].type], [true, false, "text"]);
  const again = await own.callTool(verdict);
  assert.deepEqual([again.ran, again.code, again.refusal.code], [false, "wire/unknown", "wire/unknown"]);
  assert.equal((await own.callTool(call)).ran, true);
  const wrong = await own.callTool({ tool: "current_time", input: { zone: 7 } });
  assert.deepEqual([wrong.ran, wrong.isError, wrong.code, wrong.refusal.by.kind], [false, true, "refused", "schema"]);
  const agents = await own.callTool({ tool: "Bash", input: { command: "ls" } });
  assert.deepEqual([agents.ran, agents.isError, agents.code, agents.refusal], [false, true, "unknown_capability", null]);
  await isServed(here, own);
});

test("commands and skills are listed and give their texts", async (t) => {
  const here = place(t);
  const data = join(here.env.HOME, ".local/share/portcullis");
  mkdirSync(join(data, "commands"), { recursive: true });
  writeFileSync(join(data, "commands/review.md"), "Review $1 by @style.md.\n");
  mkdirSync(join(data, "skills/trim"), { recursive: true });
  writeFileSync(join(data, "skills/trim/SKILL.md"), "---\nname: trim\ndescription: Trims.\n---\nTrim it.\n");
  const own = await turn(await real(t, here));
  const { commands, refusal } = await own.commands();
  assert.deepEqual([commands.map((one) => `${one.name} ${one.from}`), refusal], [["review user", "skill:trim skill"], null]);
  const review = await own.expand("review", "src/a.rs");
  assert.deepEqual(review, {
    text: "Review src/a.rs by @style.md.\n", code: null, message: "", mentions: [{ path: "style.md", is_inside: true }],
  });
  const none = await own.expand("none");
  assert.deepEqual([none.text, none.code, none.mentions], [null, "unknown_capability", []]);
  assert.deepEqual((await own.skills()).skills, [{ name: "trim", description: "Trims.", serves: [] }]);
  assert.match((await own.skill("trim")).text, /Trim it/);
  assert.equal((await own.skill("review")).code, "kind_mismatch");
  await own.end();
  const late = await own.skill("trim");
  assert.deepEqual([late.text, late.code], [null, "wire/unknown"]);
  assert.equal((await own.commands()).refusal.code, "wire/unknown");
});

test("a batch is planned without using a permit up", async (t) => {
  const here = place(t);
  const own = await turn(await real(t, here));
  const batch = [
    { tool: "Edit", input: { file_path: "src/a", old_string: "1", new_string: "2" } },
    { tool: "Write", input: { file_path: "src/b", content: "" } },
    { tool: "Read", input: { file_path: "src/a" } },
    { tool: "current_time", input: {} },
  ];
  const permits = [];
  for (const call of batch) permits.push(await own.beforeToolCall(call));
  const plan = await own.plan(permits);
  assert.deepEqual([plan.waves, plan.refusal], [[[0, 1, 3], [2]], null]);
  assert.equal(plan.calls[2].behind, 0);
  assert.equal((await own.callTool(permits[3])).ran, true);
  // Its permit is used up, and nobody knows any more: one by one.
  const again = await own.plan(permits);
  assert.deepEqual([again.waves, again.refusal.code], [[[0], [1], [2], [3]], "wire/unknown"]);
  await isServed(here, own);
});

test("a turn says what there is, and finds it", async (t) => {
  const here = place(t);
  const gate = await real(t, here);
  const own = await turn(gate);
  const tools = await own.tools();
  assert.ok(tools.definitions.some((tool) => tool.name === "current_time"), JSON.stringify(tools));
  const about = await (await gate.openSession({ cwd: here.cwd })).beginTurn({ reading: { needs: ["web"] } });
  assert.equal((await about.tools({ providerDefers: true })).refusal, null);
  const found = await own.findTools("time");
  assert.deepEqual([found.ran, found.tools.refusal], [true, null]);
  assert.match(found.content[0].text, /current_time/);
  const section = await own.standing();
  assert.deepEqual([section.refusal, section.tokens > 0], [null, true]);
  assert.ok((await gate.report()).rows.length > 1);
  await gate.close();
  assert.deepEqual([(await own.tools()).definitions, (await own.standing()).text, await gate.report()], [[], "", null]);
  assert.equal((await own.findTools("time")).refusal.code, "client/lost");
});

test("consent that nobody has given is a refusal that says so", async (t) => {
  const here = place(t);
  here.config('[permissions]\nmode = "ask"\nallow = ["Bash(ls)"]\n');
  const own = await turn(await real(t, here));
  await isServed(here, own);
  const { verdict, ran } = await guarded(here, own, "make it");
  assert.deepEqual([ran, verdict.allowed, verdict.wantsConsent, verdict.fault], [false, false, true, null]);
});

test("a hook's word reaches the loop", async (t) => {
  const here = place(t);
  const hook = (event, run) => `[[hooks]]\nevent = "${event}"\nshell = true\ncommand = '${run}'\n`;
  here.config(
    hook("prompt-submit", "echo no secrets >&2; exit 2") +
      hook("post-tool-use", "echo look again >&2; exit 2") +
      hook("stop", "grep -q really || { echo go on >&2; exit 2; }"),
  );
  const session = await (await real(t, here)).openSession({ cwd: here.cwd });
  const own = await session.beginTurn({ prompt: "my secret" });
  assert.equal(own.prompt.outcome, "withheld");
  assert.match(own.prompt.refusal.reason, /no secrets/);
  await isServed(here, own);
  const annotated = await own.afterToolCall({ tool: "Bash", input: { command: "ls" } }, "out");
  assert.equal(annotated.outcome, "annotated");
  assert.match(annotated.refusal.reason, /look again/);
  assert.equal((await own.end({ words: "done" })).outcome, "goes_on");
  assert.equal((await own.end({ words: "really done" })).outcome, "ends");
});

/** A hook that holds up the calls that say `wait`, and says when it does. */
function held(here) {
  const started = join(here.dir, "started");
  execFileSync("mkfifo", [started]);
  here.config(
    `[[hooks]]\nevent = "pre-tool-use"\nshell = true\ncommand = 'grep -q wait || exit 0; : > "${started}"; exec tail -f /dev/null'\n`,
  );
  return async () => (await open(started, "r")).close();
}

test("a server that dies in the middle of a call is a refusal", async (t) => {
  const here = place(t);
  const started = held(here);
  const gate = await real(t, here);
  const own = await turn(gate);
  await isServed(here, own);
  const waiting = [guarded(here, own, "wait"), guarded(here, own, "wait")];
  await started();
  process.kill(gate.pid, "SIGKILL");
  for (const call of waiting) isFault(await call, "client/lost", "internal");
  isFault(await guarded(here, own, "ls"), "client/lost", "internal");
  assert.equal(gate.failure.code, "client/lost");
  assert.equal((await own.end()).outcome, "ends");
});

test("a call that is cancelled is a refusal, and the next one is served", async (t) => {
  const here = place(t);
  const started = held(here);
  const own = await turn(await real(t, here));
  await isServed(here, own);
  const cancel = new AbortController();
  const waiting = guarded(here, own, "wait", { signal: cancel.signal });
  await started();
  cancel.abort();
  isFault(await waiting, "client/cancelled", "internal");
  isFault(await guarded(here, own, "ls", { signal: cancel.signal }), "client/cancelled", "internal");
  await isServed(here, own);
});

test("an answer that is late is a refusal, and the next one is served", async (t) => {
  const here = place(t);
  const started = held(here);
  const own = await turn(await real(t, here));
  await isServed(here, own);
  const waiting = guarded(here, own, "wait", { timeout: 300 });
  await started();
  isFault(await waiting, "client/timeout", "timeout");
  await isServed(here, own);
});

test("many clients share a server at a socket, and its end refuses all", async (t) => {
  const here = place(t);
  const path = join(here.dir, "run", "s");
  const child = spawn(PROGRAM, ["serve", "-v", "--socket", path], { env: here.env, cwd: here.cwd, stdio: ["ignore", "ignore", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  await new Promise((resolve) => child.stderr.on("data", (text) => String(text).includes("listening") && resolve()));
  const gates = await Promise.all([Gate.connect(path), Gate.connect(path)]);
  const turns = await Promise.all(gates.map((gate) => turn(gate)));
  for (const own of turns) await isServed(here, own);
  await gates[0].close();
  await isServed(here, turns[1]);
  isFault(await guarded(here, turns[0], "ls"), "client/lost", "internal");
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
  isFault(await guarded(here, turns[1], "ls"), "client/lost", "internal");
  assert.equal(existsSync(path), false);
  const late = await Gate.connect(path);
  isFault(await guarded(here, await turn(late), "ls"), "client/not-started", "load");
});

function resolvers() {
  const own = {};
  own.promise = new Promise((resolve) => Object.assign(own, { resolve }));
  return own;
}

test("judgements are heard of", async (t) => {
  const here = place(t);
  const heard = [];
  const both = resolvers();
  const onJudgement = (judgement) => {
    if (heard.push(judgement.code) === 2) both.resolve();
  };
  const own = await turn(await real(t, here, { onJudgement }));
  await isServed(here, own);
  // News may come behind the answers.
  await both.promise;
  await own.end();
  assert.deepEqual(heard, [null, "guard/rm"]);
});

test("a server that does not start is a refusal", async (t) => {
  const here = place(t);
  await isServed(here, await turn(await real(t, here)));
  here.config("[plugins]\nenabeld = []\n");
  const broken = await real(t, here, { stderr: "ignore" });
  isFault(await guarded(here, await turn(broken), "ls"), "client/lost", "internal");
  for (const [command, cwd] of [["portcullis-is-not-here", here.cwd], [PROGRAM, join(here.dir, "nowhere")], ["\0", here.cwd]]) {
    const absent = await Gate.spawn({ command, cwd, env: here.env });
    isFault(await guarded(here, await turn(absent), "ls"), "client/not-started", "load");
    await absent.close();
  }
});
