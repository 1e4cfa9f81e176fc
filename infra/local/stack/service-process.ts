import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { startChild, type Child } from '@quittance/local-backends/child.ts';
import { endOrphan, writePidFile } from '@quittance/local-backends/orphans.ts';
import { requireFreePort } from '@quittance/local-backends/ports.ts';
import { StackError } from './directory.ts';

/** Ten processes that start at once on a small machine need a good part of it. */
const readyTimeoutMs = 90_000;
/** SIGTERM drains for up to 25 s; only then is it no longer a clean stop. */
const graceMs = 30_000;
const restartDelayMs = 200;

export type ServiceProcessOptions = {
  /** `single` runs all services but the console. */
  name: ServiceName | 'console' | 'single';
  /** From 1. */
  replica: number;
  /** Ports of the services that it runs. */
  ports: Partial<Record<ServiceName | 'console', number>>;
  /** Where it says whether it is ready, when not at these ports. */
  probesPort?: number;
  env: NodeJS.ProcessEnv;
  /** The checkout whose code it runs. */
  checkout: string;
  logDirectory: string;
  pidDirectory: string;
  /** Told whenever the process is another one than before. */
  onChange: (what: string) => void;
};

/** What is different from then on. */
export type Restart = { settings?: NodeJS.ProcessEnv; checkout?: string };

/** One replica of one service, or of all in one process: kept running until it is told to stop. */
export class ServiceProcess {
  readonly name: ServiceProcessOptions['name'];
  /** Where each of its services is reached. */
  readonly urls: Partial<Record<ServiceName | 'console', string>>;
  readonly #options: ServiceProcessOptions;
  readonly #title: string;
  readonly #logFile: string;
  #env: NodeJS.ProcessEnv;
  #checkout: string;
  #child: Child | null = null;
  /** From being ready once until it is told to stop: then a process that dies is started again. */
  #isKept = false;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.urls = Object.fromEntries(
      Object.entries(options.ports).map(([name, port]) => [name, `http://127.0.0.1:${port}`]),
    );
    this.#options = options;
    this.#env = options.env;
    this.#checkout = options.checkout;
    this.#title = `${options.name}-${options.replica}`;
    this.#logFile = join(options.logDirectory, `${this.#title}.log`);
  }

  /** Where its first service is reached, which is its only one unless it is `single`. */
  get url(): string {
    return Object.values(this.urls)[0] ?? '';
  }

  /** Of the running process, or the last one. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it and waits until it says it is ready. @throws StackError naming its log. */
  async start(): Promise<void> {
    await endOrphan(this.#pidFile, this.#entryFile);
    const { ports, probesPort } = this.#options;
    for (const port of [...Object.values(ports), probesPort ?? []].flat()) await requireFreePort(port, this.#title);
    const child = await this.#spawn();
    await this.#untilReady(child);
    this.#isKept = true;
    void child.exited.then((reason) => this.#replace(child, reason));
  }

  /** Ends it cleanly and for good. */
  async stop(): Promise<void> {
    this.#isKept = false;
    await this.#child?.stop();
  }

  /**
   * Ends it cleanly and starts it again, with other settings or the code of another checkout if they are given: what a rolling restart
   * does to one replica.
   * @returns how the old process ended. @throws StackError when the new one does not become ready.
   */
  async restart({ settings = {}, checkout }: Restart = {}): Promise<string> {
    const ended = this.#child?.exited;
    await this.stop();
    this.#env = { ...this.#env, ...settings };
    this.#checkout = checkout ?? this.#checkout;
    await this.start();
    return (await ended) ?? `${this.#title} was not running`;
  }

  /** Ends it as a fault would (SIGKILL). It is started again like anything that dies. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  async #spawn(): Promise<Child> {
    const child = await startChild({
      name: this.#title,
      command: process.execPath,
      args: [this.#entryFile],
      cwd: this.#checkout,
      env: this.#env,
      logFile: this.#logFile,
      graceMs,
    });
    this.#child = child;
    await writePidFile(this.#pidFile, child.pid);
    return child;
  }

  async #replace(died: Child, reason: string): Promise<void> {
    await delay(restartDelayMs);
    // A restart may have put another one in its place meanwhile.
    if (!this.#isKept || this.#child !== died) return;
    const child = await this.#spawn();
    void child.exited.then((next) => this.#replace(child, next));
    this.#options.onChange(`${reason}; it was started again (pid ${child.pid}). See ${this.#logFile}`);
  }

  /** A process that ends before it was ready once has wrong settings or a broken backend: starting it again would not help. */
  async #untilReady(child: Child): Promise<void> {
    const deadline = Date.now() + readyTimeoutMs;
    const { probesPort } = this.#options;
    // A checkout of an earlier release may have its probes at its other ports.
    const probes = probesPort === undefined ? null : `http://127.0.0.1:${probesPort}`;
    while (child.running() && Date.now() < deadline) {
      const own = await Promise.all(Object.values(this.urls).map(isReady));
      if (own.every(Boolean) || (probes !== null && (await isReady(probes)))) return;
      await delay(50);
    }
    const what = child.running() ? `was not ready after ${readyTimeoutMs / 1_000} s` : 'ended while starting';
    throw new StackError(`${this.#title} ${what}. The end of ${this.#logFile}:\n${child.lastWords()}`);
  }

  get #pidFile(): string {
    return join(this.#options.pidDirectory, `${this.#title}.pid`);
  }

  get #entryFile(): string {
    if (this.name === 'single') return join(this.#checkout, 'infra', 'single', 'src', 'main.ts');
    return join(this.#checkout, 'services', this.name, 'src', 'main.ts');
  }
}

const isReady = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => null))?.ok === true;
