// A gate, its sessions and their turns.

import { Connection, PROTOCOL } from "./connection.js";
import { failure, refused, text } from "./refusal.js";
import { Process, Socket } from "./transport.js";

/** Longer than the server takes for a judgement with hooks, or for the run of a tool. */
const TIMEOUT = 180_000;

const CLIENT = { name: "portcullis-client", version: "0.1.0" };

export class Gate {
  #connection;
  #process;
  #timeout;

  constructor(connection, process, timeout) {
    this.#connection = connection;
    this.#process = process;
    this.#timeout = timeout;
  }

  /** Starts a server of one's own. */
  static async spawn(options = {}) {
    const { command = "portcullis", args = ["serve"], cwd, env, stderr = "inherit" } = options;
    return Gate.#greet(() => new Process({ command, args, cwd, env, stderr }), options);
  }

  /** Connects to a server that is there, at a socket. */
  static async connect(path, options = {}) {
    return Gate.#greet(() => new Socket(path), options);
  }

  static async #greet(make, { timeout = TIMEOUT, client = CLIENT, onJudgement, onChange } = {}) {
    let transport;
    try {
      transport = make();
    } catch (error) {
      const nothing = { start({ end }) { end("client/not-started", String(error)); }, send() {}, destroy() {}, async close() {} };
      transport = nothing;
    }
    const listen = (method, params) => {
      if (method === "judgement") onJudgement?.(params);
      if (method === "registry/changed") onChange?.(params);
    };
    const connection = new Connection(transport, listen);
    const gate = new Gate(connection, transport instanceof Process ? transport : undefined, timeout);
    const notifications = [onJudgement && "judgement", onChange && "registry/changed"].filter(Boolean);
    const params = { protocol: PROTOCOL, client, notifications };
    const { result, refusal } = await connection.request("initialize", params, { timeout });
    const major = (version) => String(version).split(".")[0];
    if (refusal) {
      const isOld = refusal.code === "wire/version";
      connection.fail(isOld ? failure("client/version", refusal.reason) : refusal);
    } else if (text(result?.protocol) === undefined) {
      connection.fail(failure("client/garbage", "no version"));
    } else if (major(result.protocol) !== major(PROTOCOL)) {
      connection.fail(failure("client/version", `it speaks ${result.protocol}`));
    }
    return gate;
  }

  /** Why every call is refused from now on, or null. */
  get failure() {
    return this.#connection.failure;
  }

  /** The process id of a server of one's own. */
  get pid() {
    return this.#process?.pid;
  }

  /** Opens a session. When that fails, its calls are refused. */
  async openSession({ cwd, sessionId, directWrites }) {
    const params = { cwd, session_id: sessionId, direct_writes: directWrites };
    const { result, refusal } = await this._ask("session/open", params);
    const started = told(result, refusal, "refused", ["open", "refused"]);
    const id = text(result?.session_id);
    const isBroken = refusal ?? (id === undefined ? failure("client/garbage", "no session") : null);
    return new Session(this, id ?? sessionId ?? "", started, isBroken);
  }

  /** Every capability and how it stands; null when the server cannot be asked. */
  async report() {
    const { result, refusal } = await this._ask("registry/report", {});
    return refusal ? null : result;
  }

  /** Ends the connection, and a server of one's own with it. */
  async close() {
    await this.#connection.close();
  }

  /** @internal */
  async _ask(method, params, { signal, timeout = this.#timeout } = {}) {
    return this.#connection.request(method, params, { timeout, signal });
  }
}

export class Session {
  #gate;
  #failure;

  constructor(gate, id, started, isBroken) {
    this.#gate = gate;
    this.#failure = isBroken;
    this.id = id;
    this.started = started;
  }

  /** Why every call of it is refused, or null. */
  get failure() {
    return this.#failure ?? this.#gate.failure;
  }

  /** Begins a turn. When that fails, its calls are refused, and its prompt is withheld. */
  async beginTurn({ prompt, turnId, reading } = {}) {
    const params = { session_id: this.id, turn_id: turnId, prompt, reading };
    const { result, refusal } = this.#failure
      ? { refusal: this.#failure }
      : await this.#gate._ask("turn/begin", params);
    const id = text(result?.turn_id);
    const isBroken = refusal ?? (id === undefined ? failure("client/garbage", "no turn") : null);
    const heard = prompt === undefined ? null : told(result?.prompt, isBroken, "withheld", ["handed_on", "withheld"]);
    return new Turn(this.#gate, id ?? turnId ?? "", heard, isBroken);
  }

  /** What is remembered is to be shortened. */
  async compact() {
    return this.#moment("session/compact");
  }

  /** Ends the session, and its turns before it. */
  async close() {
    return this.#moment("session/close");
  }

  async #moment(method) {
    const { result, refusal } = this.#failure
      ? { refusal: this.#failure }
      : await this.#gate._ask(method, { session_id: this.id });
    return told(result, refusal, "objected", ["fine", "objected"]);
  }
}

export class Turn {
  #gate;
  #failure;

  constructor(gate, id, prompt, isBroken) {
    this.#gate = gate;
    this.#failure = isBroken;
    this.id = id;
    this.prompt = prompt;
  }

  /** Why every call of it is refused, or null. */
  get failure() {
    return this.#failure ?? this.#gate.failure;
  }

  /** May this call run? Never throws: whatever goes wrong is a refusal. */
  async beforeToolCall(call, options) {
    const asked = copied(call);
    if (asked.refusal) return asked.refusal;
    const { result, refusal } = await this.#ask("beforeToolCall", asked.params, options);
    return refusal ?? verdict(result, asked.params);
  }

  /** A tool has run, or has failed. */
  async afterToolCall(call, output) {
    const asked = copied(call);
    const { result, refusal } = asked.refusal
      ? { refusal: asked.refusal }
      : await this.#ask("afterToolCall", { ...asked.params, output });
    return told(result, refusal, "annotated", ["stands", "annotated"]);
  }

  /** Which of these calls may run side by side, and why the others wait. */
  async plan(allowed, options) {
    const permits = allowed.map((one) => (typeof one === "string" ? one : one.permit));
    const { result, refusal } = await this.#ask("batch/plan", { permits }, options);
    return planned(result, refusal, permits.length);
  }

  /** Runs a tool that a plugin brings: one that was allowed, or one that is judged first. */
  async callTool(what, options) {
    let params = { permit: what.permit };
    if (what.permit === undefined) {
      const asked = copied(what);
      if (asked.refusal) return notRun(asked.refusal);
      params = asked.params;
    }
    const { result, refusal } = await this.#ask("tools/call", params, options);
    return refusal ? notRun(refusal) : ran(result);
  }

  /** The tools as the model's next request has them. */
  async tools({ providerDefers } = {}) {
    const { result, refusal } = await this.#ask("tools/list", { provider_defers: providerDefers });
    return tools(result, refusal);
  }

  /** The tools that these words mean, which are shown from then on. */
  async findTools(query, { providerDefers, ...options } = {}) {
    const { result, refusal } = await this.#ask("tools/find", { query, provider_defers: providerDefers }, options);
    if (refusal) return { ...notRun(refusal), tools: tools(undefined, refusal) };
    return { ...ran(result), tools: tools(result?.tools, null) };
  }

  /** What a person may type behind a slash. */
  async commands() {
    const { result, refusal } = await this.#ask("commands/list", {});
    return listed(result?.commands, refusal, "commands");
  }

  /** The text that a model is asked for a command, with what was typed behind its name. */
  async expand(name, typed = "", options) {
    const { result, refusal } = await this.#ask("commands/expand", { name, arguments: typed }, options);
    const mentions = Array.isArray(result?.mentions) ? result.mentions : [];
    return { ...prose(result, refusal), mentions };
  }

  /** The skills that there are. */
  async skills() {
    const { result, refusal } = await this.#ask("skills/list", {});
    return listed(result?.skills, refusal, "skills");
  }

  /** The text of a skill, as it was listed. */
  async skill(name, options) {
    const { result, refusal } = await this.#ask("skills/load", { name }, options);
    return prose(result, refusal);
  }

  /** What the model is told of what it can use. */
  async standing() {
    const { result, refusal } = await this.#ask("turn/standing", {});
    const { text: words, tokens, epoch } = result ?? {};
    if (refusal) return { text: "", tokens: 0, epoch: 0, refusal };
    if (typeof words !== "string" || !Number.isInteger(tokens) || !Number.isInteger(epoch)) {
      return { text: "", tokens: 0, epoch: 0, refusal: failure("client/garbage", "no section") };
    }
    return { text: words, tokens, epoch, refusal: null };
  }

  /** A worker has said its last words. */
  async subagentStop({ words } = {}) {
    return this.#stop("turn/subagentStop", { words });
  }

  /** The model has said its last words. `stop: false` when the user broke off. */
  async end({ words, stop } = {}) {
    return this.#stop("turn/end", { words, stop });
  }

  async #stop(method, params) {
    const { result, refusal } = await this.#ask(method, params);
    return told(result, refusal, "ends", ["ends", "goes_on", "at_the_limit"]);
  }

  async #ask(method, params, options) {
    if (this.#failure) return { refusal: this.#failure };
    return this.#gate._ask(method, { turn_id: this.id, ...params }, options);
  }
}

/** A list of what has a name. */
function listed(rows, refusal, what) {
  const isSound = Array.isArray(rows) && rows.every((row) => typeof row?.name === "string");
  if (refusal || !isSound) return { [what]: [], refusal: refusal ?? failure("client/garbage", `no ${what}`) };
  return { [what]: rows, refusal: null };
}

/** A text, or why there is none. */
function prose(result, refusal) {
  const { text: own, error } = result ?? {};
  if (!refusal && typeof own === "string" && error === null) return { text: own, code: null, message: "" };
  const isError = !refusal && typeof error?.code === "string" && typeof error.message === "string";
  const { code, reason } = refusal ?? failure("client/garbage", "no text");
  return { text: null, code: isError ? error.code : code, message: isError ? error.message : reason };
}

/** The waves of a batch. Without a plan that holds each call once, they run one by one. */
function planned(result, refusal, count) {
  const { waves, calls } = result ?? {};
  const places = Array.isArray(waves) && waves.every(Array.isArray) ? waves.flat() : [];
  const isSound = places.length === count && new Set(places).size === count
    && places.every((at) => Number.isInteger(at) && at >= 0 && at < count)
    && Array.isArray(calls) && calls.length === count;
  if (refusal || !isSound) {
    const oneByOne = Array.from({ length: count }, (_, at) => [at]);
    return { waves: oneByOne, calls: [], refusal: refusal ?? failure("client/garbage", "no plan") };
  }
  return { waves, calls, refusal: null };
}

/** What became of a tool that a plugin brings. */
function ran(result) {
  const { output, error } = result ?? {};
  const isFailure = error !== null;
  const isSound = !isFailure || (text(error?.code) !== undefined && output?.is_error === true);
  if (!Array.isArray(output?.content) || typeof output.is_error !== "boolean" || !isSound) {
    return notRun(failure("client/garbage", "no output"));
  }
  const content = output.content.map((part) =>
    part.type === "binary"
      ? { type: "binary", mimeType: part.mime_type, data: Buffer.from(part.data, "base64") }
      : { type: "text", text: String(part.text) },
  );
  const refusal = text(error?.refusal?.reason) === undefined ? null : refused(error.refusal);
  return { ran: !isFailure, content, isError: output.is_error, code: error?.code ?? null, refusal };
}

function notRun(refusal) {
  const content = [{ type: "text", text: refusal.reason }];
  return { ran: false, content, isError: true, code: refusal.code, refusal };
}

function tools(result, refusal) {
  const { definitions, deferred, catalogue, misreads } = result ?? {};
  const isSound = Array.isArray(definitions) && Array.isArray(deferred) && typeof catalogue === "string";
  if (refusal || !isSound) {
    refusal ??= failure("client/garbage", "no tools");
    return { definitions: [], deferred: [], catalogue: "", misreads: 0, refusal };
  }
  return { definitions, deferred, catalogue, misreads, refusal: null };
}

/** The call as it is sent. What is allowed is this copy, whatever becomes of the original. */
function copied({ tool, input, id, cwd }) {
  try {
    const params = JSON.parse(JSON.stringify({ tool, input, id, cwd }));
    return { params };
  } catch (error) {
    return { refusal: failure("client/input", String(error)) };
  }
}

function frozen(value) {
  if (value !== null && typeof value === "object") {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

/** What a judgement means. Only what is an allow in every part is one. */
function verdict(judgement, asked) {
  const { verdict: word, by, code, fault, reason, permit } = judgement ?? {};
  const isClean = by === null && code === null && fault === null && reason === null;
  const isOurs = judgement?.id === (asked.id ?? "");
  if (word === "allow" && isClean && isOurs) {
    const [handle, tool, digest] = [text(permit?.id), text(permit?.tool), text(permit?.digest)];
    if (handle === undefined || tool === undefined || digest === undefined) {
      return failure("client/garbage", "an allow without a permit");
    }
    const autoApproved = judgement.auto_approved === true;
    return Object.freeze({ allowed: true, tool, input: frozen(asked.input), permit: handle, digest, autoApproved });
  }
  if ((word === "block" || word === "ask") && isOurs && text(reason) !== undefined && by !== null) {
    return refused({ by, code: code ?? null, fault: fault ?? null, reason, wantsConsent: word === "ask" });
  }
  return failure("client/garbage", `no judgement: ${JSON.stringify(judgement)}`);
}

/** What became of a moment. What cannot be read is the closed one of its outcomes. */
function told(result, refusal, closed, known) {
  if (refusal) return { outcome: closed, refusal, hooks: [] };
  const said = result?.refusal;
  if (!known.includes(result?.outcome) || (said !== null && text(said?.reason) === undefined)) {
    return { outcome: closed, refusal: failure("client/garbage", "no outcome"), hooks: [] };
  }
  const objection = said === null ? null : refused(said);
  return { outcome: result.outcome, refusal: objection, hooks: result.hooks ?? [] };
}

