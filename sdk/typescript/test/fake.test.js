// The client against servers that go wrong, each in one way.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fake, guarded, isFault, isServed, place, turn } from "./support.js";

/** What a call is answered, and the refusal that it is. After these the connection is over. */
const BREAKS = {
  exit: ["client/lost", "internal"],
  killed: ["client/lost", "internal"],
  garbage: ["client/garbage", "bad-verdict"],
  "no utf-8": ["client/garbage", "bad-verdict"],
  "a list": ["client/garbage", "bad-verdict"],
  "another version": ["client/garbage", "bad-verdict"],
  "another id": ["client/garbage", "bad-verdict"],
  "no id": ["client/garbage", "bad-verdict"],
  both: ["client/garbage", "bad-verdict"],
  neither: ["client/garbage", "bad-verdict"],
};

/** After these the next call is served. */
const FAILS = {
  error: ["wire/internal", "internal"],
  "an odd error": ["client/garbage", "internal"],
  null: ["client/garbage", "bad-verdict"],
  true: ["client/garbage", "bad-verdict"],
  "another verdict": ["client/garbage", "bad-verdict"],
  "no verdict": ["client/garbage", "bad-verdict"],
  "no permit": ["client/garbage", "bad-verdict"],
  "an allow with a fault": ["client/garbage", "bad-verdict"],
  "an allow with a reason": ["client/garbage", "bad-verdict"],
  "another call": ["client/garbage", "bad-verdict"],
  "a block without a reason": ["client/garbage", "bad-verdict"],
};

for (const [mode, [code, fault]] of Object.entries({ ...BREAKS, ...FAILS })) {
  test(`an answer that is wrong is a refusal: ${mode}`, async (t) => {
    const here = place(t);
    const own = await turn(await fake(t, mode));
    await isServed(here, own);
    isFault(await guarded(here, own, "fault"), code, fault);
    if (mode in FAILS) {
      isFault(await guarded(here, own, "fault"), code, fault);
      return isServed(here, own);
    }
    isFault(await guarded(here, own, "ls"), code, fault);
    assert.equal(own.failure.code, code);
  });
}

test("an answer that does not come, or comes in part, is a refusal", async (t) => {
  const here = place(t);
  for (const mode of ["silent", "half a line"]) {
    const gate = await fake(t, mode, { timeout: 2000 });
    const own = await turn(gate);
    await isServed(here, own);
    isFault(await guarded(here, own, "fault"), "client/timeout", "timeout");
    if (mode === "silent") await isServed(here, own);
  }
});

test("another version of the protocol is a refusal, and one that adds to it is served", async (t) => {
  const here = place(t);
  await isServed(here, await turn(await fake(t, "newer")));
  for (const mode of ["old", "refuses"]) {
    const gate = await fake(t, mode);
    assert.equal(gate.failure.code, "client/version", mode);
    isFault(await guarded(here, await turn(gate), "ls"), "client/version", "load");
  }
});

test("a server that does not greet as it should is a refusal", async (t) => {
  const here = place(t);
  const mute = await fake(t, "says nothing", { timeout: 500 });
  isFault(await guarded(here, await turn(mute), "ls"), "client/timeout", "timeout");
  const loud = await fake(t, "prints first");
  isFault(await guarded(here, await turn(loud), "ls"), "client/garbage", "bad-verdict");
});
