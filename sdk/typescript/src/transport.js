// The two ways to a server: a process of one's own, and a socket.

import { spawn } from "node:child_process";
import { connect } from "node:net";

/** How long a server is given to end by itself. */
const END_MS = 10_000;

/** A server that is started for this one loop. */
export class Process {
  #child;
  #ended;

  constructor({ command, args, cwd, env, stderr }) {
    this.#child = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", stderr] });
    this.#ended = new Promise((resolve) => {
      this.#child.once("error", resolve);
      this.#child.once("close", resolve);
    });
  }

  /** Its process id. */
  get pid() {
    return this.#child.pid;
  }

  start({ data, end }) {
    const child = this.#child;
    child.once("error", (error) => end("client/not-started", String(error)));
    child.stdin?.on("error", (error) => end("client/lost", String(error)));
    child.stdout?.on("data", data);
    child.stdout?.on("error", (error) => end("client/lost", String(error)));
    child.stdout?.on("end", () => end("client/lost", "it said nothing more"));
    child.once("close", (code, signal) => end("client/lost", `it ended with ${code ?? signal}`));
  }

  send(line) {
    this.#child.stdin?.write(line);
  }

  destroy() {
    this.#child.kill("SIGTERM");
  }

  async close() {
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
    await this.#ended;
    clearTimeout(late);
  }
}

/** A server that is there already. */
export class Socket {
  #socket;
  #ended;

  constructor(path) {
    this.#socket = connect({ path });
    this.#ended = new Promise((resolve) => this.#socket.once("close", resolve));
  }

  start({ data, end }) {
    let isConnected = false;
    this.#socket.once("connect", () => (isConnected = true));
    this.#socket.on("error", (error) => end(isConnected ? "client/lost" : "client/not-started", String(error)));
    this.#socket.on("data", data);
    this.#socket.on("close", () => end("client/lost", "it was closed"));
  }

  send(line) {
    this.#socket.write(line);
  }

  destroy() {
    this.#socket.destroy();
  }

  async close() {
    this.#socket.end();
    this.#socket.destroySoon();
    await this.#ended;
  }
}
