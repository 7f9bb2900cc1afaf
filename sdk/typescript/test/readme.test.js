// The example of the README does what it says.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { test } from "node:test";

import { PROGRAM, place } from "./support.js";

test("the example of the README refuses what is dangerous", (t) => {
  const here = place(t);
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const example = /```js\n(.*?)```/s.exec(readme)[1];
  const client = new URL("../src/index.js", import.meta.url).href;
  const file = join(here.dir, "example.mjs");
  writeFileSync(file, example.replace('"portcullis-client"', JSON.stringify(client)));
  const env = { ...here.env };
  if (isAbsolute(PROGRAM) || PROGRAM.includes("/")) {
    mkdirSync(join(here.dir, "bin"));
    symlinkSync(resolve(PROGRAM), join(here.dir, "bin", "portcullis"));
    env.PATH = join(here.dir, "bin") + delimiter + env.PATH;
  }
  const said = execFileSync(process.execPath, [file], { env, cwd: here.cwd, encoding: "utf8" });
  assert.match(said, /^Blocked by the guard plugin: refusing "rm -rf build"/);
});
