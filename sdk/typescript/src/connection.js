// One connection: requests out, answers in. When anything is wrong with it, it is over, and
// every request ends with the reason.

import { failure, refusedBy } from "./refusal.js";

/** The version of the protocol that is spoken here. */
export const PROTOCOL = "1.0";

/** A line that is longer than this is no answer. */
const LINE_MAX = 64 * 1024 * 1024;

/** Answers that nobody waits for any more and that may still come. */
const LATE_MAX = 1024;

export class Connection {
  #transport;
  #next = 1;
  #pending = new Map();
  #late = new Set();
  #rest = [];
  #size = 0;
  #listen;
  /** Why it is over, or null. */
  failure = null;

  constructor(transport, listen) {
    this.#transport = transport;
    this.#listen = listen;
    transport.start({
      data: (chunk) => this.#read(chunk),
      end: (code, detail) => this.fail(failure(code, detail)),
    });
  }

  /** Asks. Gives `{ result }`, or `{ refusal }` whatever goes wrong. */
  request(method, params, { timeout, signal } = {}) {
    if (this.failure) return Promise.resolve({ refusal: this.failure });
    if (signal?.aborted) return Promise.resolve({ refusal: failure("client/cancelled") });
    const id = this.#next++;
    let line;
    try {
      line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    } catch (error) {
      return Promise.resolve({ refusal: failure("client/input", String(error)) });
    }
    return new Promise((resolve) => {
      const done = (outcome) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.#pending.delete(id);
        resolve(outcome);
      };
      const giveUp = (code) => {
        // The server refuses it as well, and what it says of it is not heard any more.
        this.#late.add(id);
        if (this.#late.size > LATE_MAX) this.#late.delete(this.#late.values().next().value);
        this.#send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
        done({ refusal: failure(code) });
      };
      const abort = () => giveUp("client/cancelled");
      const timer = setTimeout(() => giveUp("client/timeout"), timeout);
      signal?.addEventListener("abort", abort, { once: true });
      this.#pending.set(id, done);
      this.#transport.send(line + "\n");
    });
  }

  /** It is over, for this reason. */
  fail(refusal) {
    if (this.failure) return;
    this.failure = refusal;
    this.#transport.destroy();
    for (const done of [...this.#pending.values()]) done({ refusal });
  }

  /** Ends it in order. */
  async close() {
    this.failure ??= failure("client/lost", "it was closed");
    for (const done of [...this.#pending.values()]) done({ refusal: this.failure });
    await this.#transport.close();
  }

  #send(message) {
    if (!this.failure) this.#transport.send(JSON.stringify(message) + "\n");
  }

  #hear({ method, params }) {
    try {
      this.#listen?.(method, params);
    } catch (error) {
      // It is the loop's own, and no reason to hear no answers any more.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #read(chunk) {
    if (this.failure) return;
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#rest.push(chunk.subarray(from, end));
      const line = Buffer.concat(this.#rest);
      this.#rest = [];
      this.#size = 0;
      from = end + 1;
      this.#line(line);
      if (this.failure) return;
    }
    this.#rest.push(chunk.subarray(from));
    this.#size += chunk.length - from;
    if (this.#size > LINE_MAX) this.fail(failure("client/garbage", "a line without an end"));
  }

  #line(bytes) {
    let message;
    try {
      message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch (error) {
      return this.fail(failure("client/garbage", String(error)));
    }
    if (message === null || typeof message !== "object" || message.jsonrpc !== "2.0") {
      return this.fail(failure("client/garbage", "it is no message"));
    }
    if (!("id" in message)) {
      if (typeof message.method !== "string") return this.fail(failure("client/garbage", "it is no message"));
      return this.#hear(message);
    }
    const done = this.#pending.get(message.id);
    if (!done) {
      if (this.#late.delete(message.id)) return;
      // Somebody waits for this answer, and nobody knows who.
      return this.fail(failure("client/garbage", "an answer to nothing that was asked"));
    }
    const [hasResult, hasError] = ["result" in message, "error" in message];
    if (hasResult === hasError) return this.fail(failure("client/garbage", "neither a result nor an error"));
    done(hasError ? { refusal: refusedBy(message.error) } : { result: message.result });
  }
}
