// A model that says what is written here, and looks at what it is shown.

import type { Json, Tools } from "portcullis-client";

export interface Request {
  readonly system: string;
  readonly tools: Tools["definitions"];
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export interface ToolUse {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
}

/** Tools that the model calls, or its last words. */
export type Reply = { readonly calls: readonly ToolUse[] } | { readonly words: string };

/** Put a client of your provider here. */
export interface Model {
  answer(request: Request): Promise<Reply>;
}

/** A model that follows a script. */
export class Scripted implements Model {
  readonly #steps: readonly (readonly [tool: string, input: Json][] | string)[];
  #step = 0;
  /** What it was shown. */
  readonly requests: Request[] = [];

  constructor(steps: readonly (readonly [tool: string, input: Json][] | string)[]) {
    this.#steps = steps;
  }

  async answer(request: Request): Promise<Reply> {
    this.requests.push({ ...request, messages: [...request.messages] });
    const step = this.#steps[this.#step++] ?? "There is nothing more to do.";
    if (typeof step === "string") return { words: step };
    return { calls: step.map(([tool, input], at) => ({ id: `call-${this.#step}-${at}`, tool, input })) };
  }
}
