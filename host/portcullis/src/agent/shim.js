// Portcullis: every tool call is judged before it runs.
//
// This agent has no hook processes. So this plugin asks `portcullis hook`, and
// refuses unless the answer is a clear "do not block": whatever goes wrong on
// the way is a refusal.
import { spawn } from "node:child_process";

const PORTCULLIS = "@PORTCULLIS@";
const TIMEOUT_MS = 60_000; // `portcullis hook` gives up, and refuses, before that
const ANSWER_MAX = 1 << 20;

function run(agent, call) {
  return new Promise((resolve, reject) => {
    const child = spawn(PORTCULLIS, ["hook", "--agent", agent], {
      cwd: call.directory,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const fail = (why) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`Blocked: Portcullis could not judge this call (${why}).`));
    };
    const timer = setTimeout(() => fail("no answer in time"), TIMEOUT_MS);
    let answer = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => {
      answer += text;
      if (answer.length > ANSWER_MAX) fail("its answer is too long");
    });
    child.stdout.on("error", (e) => fail(e.code ?? "error"));
    child.stdin.on("error", (e) => fail(e.code ?? "error"));
    child.on("error", (e) => fail(e.code ?? "error"));
    child.on("close", (code) => {
      if (code !== 0) return fail(`it ended with ${code ?? "a signal"}`);
      clearTimeout(timer);
      resolve(answer);
    });
    child.stdin.end(JSON.stringify(call));
  });
}

// Throws unless Portcullis says that the call is not to be blocked.
async function judge(agent, call) {
  const answer = await run(agent, call);
  let judgement;
  try {
    judgement = JSON.parse(answer);
  } catch {
    throw new Error("Blocked: Portcullis could not judge this call (its answer is not JSON).");
  }
  if (judgement?.block === false) return;
  throw new Error(judgement?.reason || "Blocked: Portcullis gave no reason.");
}
