// Compiles only if the types say what the client does. It is never run.

import { Gate, PROTOCOL, type Allowed, type Fault, type Plan, type Ran, type Refused, type Session, type Tools, type Turn, type Verdict } from "portcullis-client";

const version: string = PROTOCOL;

export async function loop(run: (tool: string, input: unknown) => Promise<string>): Promise<string> {
  const gate: Gate = await Gate.spawn({ command: "portcullis", args: ["serve"], cwd: "/home/dev/app", stderr: "ignore", timeout: 1000 });
  const other: Gate = await Gate.connect("/home/dev/run/s", { onJudgement: (judgement) => void judgement["code"] });
  if (gate.failure) return gate.failure.reason;
  const session: Session = await gate.openSession({ cwd: "/home/dev/app", sessionId: "s1", directWrites: ["docs/**"] });
  if (session.started.outcome === "refused") return session.started.refusal?.reason ?? "";
  const turn: Turn = await session.beginTurn({ prompt: version, reading: { needs: ["web"] } });
  if (turn.prompt?.outcome === "withheld") return turn.prompt.refusal?.reason ?? "";
  const call = { tool: "Bash", input: { command: "ls" }, id: "c1" };
  const verdict: Verdict = await turn.beforeToolCall(call, { signal: AbortSignal.timeout(10), timeout: 10 });
  // @ts-expect-error: before it is known that the call is allowed there is no permit.
  verdict.permit;
  if (!verdict.allowed) {
    const refused: Refused = verdict;
    const fault: Fault | null = refused.fault;
    // @ts-expect-error: what is refused has no arguments to run.
    verdict.input;
    return `${refused.by.name} ${refused.code} ${fault} ${refused.wantsConsent} ${refused.reason}`;
  }
  const allowed: Allowed = verdict;
  // @ts-expect-error: what was judged does not change.
  allowed.input = {};
  const plan: Plan = await turn.plan([allowed, "permit-1"], { timeout: 10 });
  for (const wave of plan.waves) for (const at of wave) void plan.calls[at]?.claim.writes.join();
  const output = await run(allowed.tool, allowed.input);
  const told = await turn.afterToolCall(call, output);
  if (told.outcome === "annotated") return told.refusal?.reason ?? "";
  const ran: Ran = await turn.callTool({ tool: "current_time", input: {} });
  const tools: Tools = await turn.tools({ providerDefers: true });
  const found = await turn.findTools("time", { timeout: 10 });
  const { commands } = await turn.commands();
  const expansion = await turn.expand(commands[0]?.name ?? "", "src/a.rs", { timeout: 10 });
  for (const mention of expansion.mentions) if (!mention.is_inside) void mention.path.length;
  const skill = await turn.skill((await turn.skills()).skills[0]?.name ?? "");
  // @ts-expect-error: there may be no text.
  skill.text.length;
  const section = await turn.standing();
  const names = [...tools.definitions, ...found.tools.definitions].map((tool) => tool.name);
  if (section.refusal ?? ran.refusal ?? found.refusal) return names.join();
  if (ran.ran) for (const part of ran.content) if (part.type === "binary") void part.data.byteLength;
  const end = await turn.end({ words: "done", stop: false });
  if (end.outcome === "goes_on") return end.refusal?.reason ?? "";
  await turn.subagentStop({ words: "done" });
  await session.compact();
  await session.close();
  await other.close();
  await gate.close();
  return "done";
}
