import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { startChild, type Child } from '../backends/child.ts';
import { endOrphan, writePidFile } from '../backends/orphans.ts';
import { requireFreePort } from '../backends/ports.ts';
import { repositoryRoot, StackError } from './directory.ts';

const readyTimeoutMs = 30_000;
/** SIGTERM drains for up to 25 s; only then is it no longer a clean stop. */
const graceMs = 30_000;
const restartDelayMs = 200;

export type ServiceProcessOptions = {
  name: ServiceName;
  /** From 1. */
  replica: number;
  port: number;
  env: NodeJS.ProcessEnv;
  logDirectory: string;
  pidDirectory: string;
  /** Told whenever the process is another one than before. */
  onChange: (what: string) => void;
};

/** One replica of one service: kept running until it is told to stop. */
export class ServiceProcess {
  readonly name: ServiceName;
  readonly url: string;
  readonly #options: ServiceProcessOptions;
  readonly #title: string;
  readonly #logFile: string;
  #child: Child | null = null;
  #isWanted = false;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.url = `http://127.0.0.1:${options.port}`;
    this.#options = options;
    this.#title = `${options.name}-${options.replica}`;
    this.#logFile = join(options.logDirectory, `${this.#title}.log`);
  }

  /** Of the running process, or the last one. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it and waits until it says it is ready. @throws StackError naming its log. */
  async start(): Promise<void> {
    this.#isWanted = true;
    await endOrphan(this.#pidFile, this.#entryFile);
    await requireFreePort(this.#options.port, this.#title);
    await this.#spawn();
    await this.#untilReady();
  }

  /** Ends it cleanly and for good. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    await this.#child?.stop();
  }

  /** Ends it as a fault would (SIGKILL). It is started again like anything that dies. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  async #spawn(): Promise<void> {
    const child = await startChild({
      name: this.#title,
      command: process.execPath,
      args: [this.#entryFile],
      cwd: repositoryRoot,
      env: this.#options.env,
      logFile: this.#logFile,
      graceMs,
    });
    this.#child = child;
    await writePidFile(this.#pidFile, child.pid);
    void child.exited.then((reason) => this.#replace(child, reason));
  }

  async #replace(child: Child, reason: string): Promise<void> {
    if (this.#child !== child) return;
    await delay(restartDelayMs);
    if (!this.#isWanted) return;
    await this.#spawn();
    this.#options.onChange(`${reason}; it was started again (pid ${this.pid}). See ${this.#logFile}`);
  }

  async #untilReady(): Promise<void> {
    const deadline = Date.now() + readyTimeoutMs;
    while (Date.now() < deadline) {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
      if (answer?.ok === true) return;
      await delay(50);
    }
    throw new StackError(`${this.#title} did not become ready in ${readyTimeoutMs / 1_000} s. See ${this.#logFile}`);
  }

  get #pidFile(): string {
    return join(this.#options.pidDirectory, `${this.#title}.pid`);
  }

  get #entryFile(): string {
    return join(repositoryRoot, 'services', this.name, 'src', 'main.ts');
  }
}
