// A whole agent loop: a model, tools of the loop's own, and Portcullis between them.

import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { promisify } from "node:util";

import type { Gate, Json, Part, Session, Turn } from "portcullis-client";

import type { Model, ToolUse } from "./model.js";

const run = promisify(execFile);

/** The tools that this loop runs itself. Each gets the arguments that were judged. */
const OWN: Record<string, { readonly definition: Json; run(input: any, cwd: string): Promise<string> }> = {
  Bash: {
    definition: {
      name: "Bash",
      description: "Runs a command in a shell.",
      input_schema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    },
    async run({ command }, cwd) {
      const { stdout, stderr } = await run("sh", ["-c", command], { cwd });
      return stdout + stderr;
    },
  },
  Write: {
    definition: {
      name: "Write",
      description: "Writes a file.",
      input_schema: {
        type: "object",
        properties: { file_path: { type: "string" }, content: { type: "string" } },
        required: ["file_path", "content"],
      },
    },
    async run({ file_path, content }, cwd) {
      await writeFile(resolve(cwd, file_path), content);
      return `wrote ${file_path}`;
    },
  },
};

/** One conversation of one turn. Gives what was said, line by line. */
export async function converse(gate: Gate, model: Model, cwd: string, prompt: string): Promise<string[]> {
  const told: string[] = [];
  const session = await gate.openSession({ cwd });
  if (session.started.refusal) return [`no session: ${session.started.refusal.reason}`];
  await turn(session, model, cwd, prompt, told);
  await session.close();
  return told;
}

/** From the user's words to the model's last. */
async function turn(session: Session, model: Model, cwd: string, prompt: string, told: string[]): Promise<void> {
  const turn = await session.beginTurn({ prompt });
  if (turn.prompt?.refusal) {
    told.push(`not handed on: ${turn.prompt.refusal.reason}`);
    await turn.end({ stop: false });
    return;
  }
  told.push(`user: ${prompt}`);
  const messages = [{ role: "user", content: prompt }];
  for (;;) {
    const [standing, tools] = [await turn.standing(), await turn.tools()];
    const own = Object.values(OWN).map(({ definition }) => definition as (typeof tools.definitions)[number]);
    const reply = await model.answer({ system: standing.text, tools: [...own, ...tools.definitions], messages });
    if ("words" in reply) {
      told.push(`model: ${reply.words}`);
      const end = await turn.end({ words: reply.words });
      if (end.outcome !== "goes_on") return;
      messages.push({ role: "user", content: end.refusal?.reason ?? "" });
      continue;
    }
    // What the model asks for at once is judged and run side by side, and answered in its order.
    const answers = await Promise.all(reply.calls.map((call) => answer(turn, call, cwd)));
    for (const [at, call] of reply.calls.entries()) {
      told.push(`${call.tool}: ${answers[at]}`);
      messages.push({ role: "tool", content: answers[at] ?? "" });
    }
  }
}

/** What the model reads of one call. There is always something. */
async function answer(turn: Turn, call: ToolUse, cwd: string): Promise<string> {
  const own = OWN[call.tool];
  if (!own) {
    const { content } = await turn.callTool(call);
    return content.map(words).join("\n");
  }
  const verdict = await turn.beforeToolCall(call);
  if (!verdict.allowed) return verdict.reason;
  let output: string;
  try {
    output = await own.run(verdict.input, cwd);
  } catch (error) {
    output = `The tool failed: ${String(error)}`;
  }
  const heard = await turn.afterToolCall(call, output);
  return heard.refusal ? `${output}\n${heard.refusal.reason}` : output;
}

function words(part: Part): string {
  return part.type === "text" ? part.text : `[${part.data.byteLength} bytes of ${part.mimeType}]`;
}
