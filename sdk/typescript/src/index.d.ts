/** The version of the protocol that this client speaks. */
export const PROTOCOL: string;

/** The class of a failure: nobody decided, and the call is refused for that. */
export type Fault =
  | "trap"
  | "timeout"
  | "memory"
  | "bad-verdict"
  | "load"
  | "resource"
  | "too-big"
  | "bad-input"
  | "internal";

/** Anything that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A tool call, in the agent's own words. */
export interface Call {
  /** The tool's name as the agent spells it. */
  readonly tool: string;
  readonly input: Json;
  /** The call's id. */
  readonly id?: string | undefined;
  /** The directory that it runs in. Without it the session's. */
  readonly cwd?: string | undefined;
}

/** The call may run: with `input`, which is what was judged, and with nothing else. */
export interface Allowed {
  readonly allowed: true;
  /** The tool's canonical name. */
  readonly tool: string;
  /** The arguments that were judged. Frozen. */
  readonly input: Json;
  /** Names the permit, once, for `Turn.callTool`. */
  readonly permit: string;
  /** SHA-256 of what was judged. */
  readonly digest: string;
  /** The tool's own plugin says that the user need not be asked. */
  readonly autoApproved: boolean;
}

/** The call must not run. */
export interface Refused {
  readonly allowed: false;
  /** Who refused; `client` when nobody could be asked. */
  readonly by: { readonly kind: string; readonly name: string };
  /** A stable word such as `guard/rm`, `fault/timeout`, `wire/cancelled` or `client/lost`. */
  readonly code: string | null;
  /** Null for a decision. */
  readonly fault: Fault | null;
  /** What the model is told. */
  readonly reason: string;
  /** What a person is told besides. */
  readonly detail: string;
  /** Nobody objects, and the user is to be asked. Without their word it is a refusal. */
  readonly wantsConsent: boolean;
}

export type Verdict = Allowed | Refused;

/** One hook that was asked. */
export interface HookRun {
  readonly hook: string;
  readonly said: "nothing" | "approve" | "block" | "failed";
  readonly why: string | null;
  readonly millis: number;
}

/** What became of a moment. When nobody could be asked it is the closed one of its outcomes. */
export interface Told<Outcome extends string> {
  readonly outcome: Outcome;
  readonly refusal: Refused | null;
  readonly hooks: readonly HookRun[];
}

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "binary"; readonly mimeType: string; readonly data: Uint8Array };

/** What became of a tool that a plugin brings: always an answer for the model. */
export interface Ran {
  /** False: it did not run, or gave no answer. */
  readonly ran: boolean;
  readonly content: readonly Part[];
  readonly isError: boolean;
  /** Why it did not run: `refused`, `unknown_capability`, a fault, a code of this client. */
  readonly code: string | null;
  readonly refusal: Refused | null;
}

/** The tools as the model's next request has them. */
export interface Tools {
  readonly definitions: readonly { readonly name: string; readonly description: string; readonly input_schema: Json; readonly defer_loading?: true }[];
  /** The names of those that are not shown in full. They can be called as well. */
  readonly deferred: readonly string[];
  /** What the prompt says of those that may have to be found. */
  readonly catalogue: string;
  readonly misreads: number;
  /** Why there are none, when nobody could be asked. */
  readonly refusal: Refused | null;
}

/** What a person may type behind a slash. */
export interface Command {
  readonly name: string;
  readonly description: string;
  /** A hint at what can be typed behind it; empty when there is none. */
  readonly arguments: string;
  /** Whose it is: `project`, `plugin:NAME`, `user`, `skill` or another extension's name. */
  readonly from: string;
}

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The domains that it serves; none: it does not say. */
  readonly serves: readonly string[];
}

/** A text, or why there is none. */
export interface Text {
  readonly text: string | null;
  /** A stable word, such as `unknown_capability` or a code of this client; null with a text. */
  readonly code: string | null;
  readonly message: string;
}

/** The text of a command, and the files that it points at with `@`. Nothing has read them. */
export interface Expansion extends Text {
  readonly mentions: readonly { readonly path: string; readonly is_inside: boolean }[];
}

/** What one call of a plan claims, and what it waits for. */
export interface PlannedCall {
  readonly id: string;
  readonly tool: string;
  /** The number of its wave, from 0. */
  readonly wave: number;
  readonly claim: {
    readonly exclusive: boolean;
    readonly read_only: boolean;
    readonly reads: readonly string[];
    readonly writes: readonly string[];
    /** Why it is exclusive. */
    readonly because: string | null;
  };
  /** The place of an earlier call that it waits for, and why. */
  readonly behind: number | null;
  readonly why: string | null;
}

/** Which calls of a batch may run side by side. */
export interface Plan {
  /** The calls of each wave, by their places. Run one wave after the other. */
  readonly waves: readonly (readonly number[])[];
  readonly calls: readonly PlannedCall[];
  /** Why nobody could say, when nobody could: the waves are one call each then. */
  readonly refusal: Refused | null;
}

export interface CallOptions {
  /** Takes the call back: it is refused. */
  readonly signal?: AbortSignal | undefined;
  /** The answer is waited for this long, in milliseconds. Without it as long as the gate's. */
  readonly timeout?: number | undefined;
}

export interface GateOptions {
  /** An answer is waited for this long, in milliseconds. 180,000 by default. */
  readonly timeout?: number;
  /** Who this is, for the server's log. */
  readonly client?: { readonly name: string; readonly version: string };
  /** Hears of every judgement of the server, as far as it is fast enough. */
  readonly onJudgement?: (judgement: { readonly [key: string]: Json }) => void;
  /** Hears of every change of what there is; of several at once as one. */
  readonly onChange?: (change: { readonly [key: string]: Json }) => void;
}

export interface SpawnOptions extends GateOptions {
  /** The program. `portcullis` by default. */
  readonly command?: string;
  /** Its arguments. `["serve"]` by default. */
  readonly args?: readonly string[];
  /** The workspace. */
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string | undefined };
  /** Where its log goes. */
  readonly stderr?: "inherit" | "ignore";
}

/** A connection to a server. No method of it, of its sessions or of its turns throws because
 * of the gate: whatever goes wrong is a refusal. */
export class Gate {
  private constructor();
  /** Starts a server of one's own. */
  static spawn(options?: SpawnOptions): Promise<Gate>;
  /** Connects to a server that is there, at a socket. */
  static connect(path: string, options?: GateOptions): Promise<Gate>;
  /** Why every call is refused from now on, or null. */
  readonly failure: Refused | null;
  /** The process id of a server of one's own. */
  readonly pid: number | undefined;
  /** Opens a session. When that fails, its calls are refused. */
  openSession(options: {
    /** An absolute path. */
    readonly cwd: string;
    readonly sessionId?: string | undefined;
    /** Patterns below `cwd`; tools may write nothing else. */
    readonly directWrites?: readonly string[] | undefined;
  }): Promise<Session>;
  /** Every capability and how it stands; null when the server cannot be asked. */
  report(): Promise<{ readonly [key: string]: Json } | null>;
  /** Ends the connection, and a server of one's own with it. */
  close(): Promise<void>;
}

export interface Session {
  readonly id: string;
  /** `refused`: a hook objects, or the session could not be opened. Its calls are refused. */
  readonly started: Told<"open" | "refused">;
  /** Why every call of it is refused for a fault, or null. */
  readonly failure: Refused | null;
  /** Begins a turn. When that fails, its calls are refused, and its prompt is withheld. */
  beginTurn(options?: {
    readonly prompt?: string | undefined;
    readonly turnId?: string | undefined;
    /** What it is about: the domains that it needs, and the tools whose card is asked for. */
    readonly reading?: { readonly needs?: readonly string[]; readonly cards?: readonly string[] } | undefined;
  }): Promise<Turn>;
  /** What is remembered is to be shortened. `objected`: leave it as it is, if you can. */
  compact(): Promise<Told<"fine" | "objected">>;
  /** Ends the session, and its turns before it. */
  close(): Promise<Told<"fine" | "objected">>;
}

export interface Turn {
  readonly id: string;
  /** `withheld`: do not hand it to the model, and tell the user why. Null without a prompt. */
  readonly prompt: Told<"handed_on" | "withheld"> | null;
  /** Why every call of it is refused for a fault, or null. */
  readonly failure: Refused | null;
  /** May this call run? */
  beforeToolCall(call: Call, options?: CallOptions): Promise<Verdict>;
  /** A tool has run, or has failed. `annotated`: put the reason behind the result. */
  afterToolCall(call: Call, output: string): Promise<Told<"stands" | "annotated">>;
  /** Which of these calls may run side by side, and why the others wait. Uses no permit up. */
  plan(allowed: readonly (Allowed | string)[], options?: CallOptions): Promise<Plan>;
  /** Runs a tool that a plugin brings: one that was allowed, or one that is judged first. */
  callTool(what: Allowed | Call | { readonly permit: string }, options?: CallOptions): Promise<Ran>;
  /** The tools as the model's next request has them. */
  tools(options?: {
    /** The model's provider can defer tools by itself: all are given, the others marked. */
    readonly providerDefers?: boolean | undefined;
  }): Promise<Tools>;
  /** The tools that these words mean, which are shown from then on. */
  findTools(
    query: string,
    options?: CallOptions & { readonly providerDefers?: boolean | undefined },
  ): Promise<Ran & { readonly tools: Tools }>;
  /** What a person may type behind a slash. */
  commands(): Promise<{ readonly commands: readonly Command[]; readonly refusal: Refused | null }>;
  /** The text that a model is asked for a command, with what was typed behind its name. */
  expand(name: string, typed?: string, options?: CallOptions): Promise<Expansion>;
  /** The skills that there are. */
  skills(): Promise<{ readonly skills: readonly Skill[]; readonly refusal: Refused | null }>;
  /** The text of a skill, as it was listed. */
  skill(name: string, options?: CallOptions): Promise<Text>;
  /** What the model is told of what it can use: the same in every request of the turn. */
  standing(): Promise<{
    readonly text: string;
    readonly tokens: number;
    readonly epoch: number;
    readonly refusal: Refused | null;
  }>;
  /** A worker has said its last words. */
  subagentStop(options?: { readonly words?: string | undefined }): Promise<Told<"ends" | "goes_on" | "at_the_limit">>;
  /** The model has said its last words. `goes_on`: let it answer again. */
  end(options?: {
    readonly words?: string | undefined;
    /** False: the hooks at `stop` are not asked, because the user broke off. */
    readonly stop?: boolean | undefined;
  }): Promise<Told<"ends" | "goes_on" | "at_the_limit">>;
}
