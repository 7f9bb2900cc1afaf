// A place for one test, a server, and a tool that leaves a mark when it runs.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Gate } from "../src/index.js";

/** The program under test. */
export const PROGRAM = process.env.PORTCULLIS_BIN ?? "portcullis";

const FAKE = fileURLToPath(new URL("fake.js", import.meta.url));

/** A user of their own, gone with the test. */
export function place(t) {
  const dir = mkdtempSync(join(tmpdir(), "portcullis-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "work"));
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: dir,
    // Compiled components are shared by all tests, because they are the same.
    XDG_CACHE_HOME: process.env.PORTCULLIS_TEST_CACHE ?? join(dir, "cache"),
    XDG_STATE_HOME: process.env.PORTCULLIS_TEST_STATE ?? join(dir, "state"),
  };
  const config = (text) => {
    mkdirSync(join(dir, ".config/portcullis"), { recursive: true });
    writeFileSync(join(dir, ".config/portcullis/config.toml"), text);
  };
  return { dir, env, cwd: join(dir, "work"), config };
}

/** A gate with the real program behind it. */
export async function real(t, here, options = {}) {
  const gate = await Gate.spawn({ command: PROGRAM, cwd: here.cwd, env: here.env, ...options });
  t.after(() => gate.close());
  return gate;
}

/** A gate with a server behind it that goes wrong in one way. */
export async function fake(t, mode, options = {}) {
  const gate = await Gate.spawn({ command: process.execPath, args: [FAKE, mode], ...options });
  t.after(() => gate.close());
  return gate;
}

/** A turn of a session. */
export async function turn(gate, cwd = "/home/dev/app") {
  const session = await gate.openSession({ cwd });
  return session.beginTurn();
}

let marks = 0;

/** Runs a command as a loop would: what is allowed leaves a mark. Gives the verdict, and
 * whether it ran. */
export async function guarded(here, turn, command, options) {
  const mark = join(here.dir, `mark-${marks++}`);
  const verdict = await turn.beforeToolCall({ tool: "Bash", input: { command }, id: "c1" }, options);
  if (verdict.allowed) writeFileSync(mark, JSON.stringify(verdict.input));
  return { verdict, ran: existsSync(mark) };
}

/** The two healthy arms. */
export async function isServed(here, turn) {
  const allow = await guarded(here, turn, "ls");
  assert.equal(allow.ran, true, JSON.stringify(allow.verdict));
  const deny = await guarded(here, turn, "rm -rf build");
  assert.equal(deny.ran, false);
  assert.deepEqual([deny.verdict.code, deny.verdict.fault], ["guard/rm", null]);
}

/** The third arm: nothing ran, for this reason, which is no decision. */
export function isFault({ verdict, ran }, code, fault) {
  assert.equal(ran, false);
  assert.equal(verdict.allowed, false);
  assert.deepEqual([verdict.code, verdict.fault], [code, fault], JSON.stringify(verdict));
  assert.match(verdict.reason, /^Blocked, because Portcullis did not judge this call: .*not a decision/);
  assert.doesNotMatch(verdict.reason, /\/tmp|\/home/);
}
