import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { startChild, type Child } from '@quittance/local-backends/child.ts';
import { endOrphan, writePidFile } from '@quittance/local-backends/orphans.ts';
import { requireFreePort } from '@quittance/local-backends/ports.ts';
import { StackError } from './directory.ts';
import { until } from './until.ts';

/** After SIGTERM a process drains for up to 25 s. After this time the stop counts as failed. */
const graceMs = 30_000;
const restartDelayMs = 200;

export type ServiceProcessOptions = {
  /** `single` runs all services except the console and the notifier. */
  name: ServiceName | 'console' | 'notifier' | 'single';
  /** Counted from 1. */
  replica: number;
  /** Ports of the services that the process runs. */
  ports: Partial<Record<ServiceName | 'console' | 'notifier', number>>;
  /** Port of its health checks, if not one of these ports. */
  probesPort?: number;
  env: NodeJS.ProcessEnv;
  /** The checkout whose code it runs. */
  checkout: string;
  logDirectory: string;
  pidDirectory: string;
  /** Called whenever the process was replaced by a new one. */
  onChange: (what: string) => void;
};

/** What changes with the restart. */
export type Restart = { settings?: NodeJS.ProcessEnv; checkout?: string };

/** One replica of one service, or of all in one process. It is kept running until it is stopped. */
export class ServiceProcess {
  readonly name: ServiceProcessOptions['name'];
  /** The URL of each of its services. */
  readonly urls: Partial<Record<ServiceName | 'console' | 'notifier', string>>;
  readonly #options: ServiceProcessOptions;
  readonly #title: string;
  readonly #logFile: string;
  #env: NodeJS.ProcessEnv;
  #checkout: string;
  #child: Child | null = null;
  /** True from the first readiness until the stop: in this time a process that dies is started again. */
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

  /** The URL of its first service, which is the only one unless it is `single`. */
  get url(): string {
    return Object.values(this.urls)[0] ?? '';
  }

  /** Process id of the running process, or of the last one. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts the process and waits until it is ready. @throws StackError naming its log. */
  async start(): Promise<void> {
    await endOrphan(this.#pidFile, this.#entryFile);
    const { ports, probesPort } = this.#options;
    for (const port of [...Object.values(ports), probesPort ?? []].flat()) await requireFreePort(port, this.#title);
    const child = await this.#spawn();
    await this.#untilReady(child);
    this.#isKept = true;
    void child.exited.then((reason) => this.#replace(child, reason));
  }

  /** Stops it cleanly; it is not started again. */
  async stop(): Promise<void> {
    this.#isKept = false;
    await this.#child?.stop();
  }

  /**
   * Stops it cleanly and starts it again, with other settings or another checkout's code if given: what a rolling restart does to one
   * replica.
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

  /** Kills it as a fault would (SIGKILL). Like any process that dies, it is started again. */
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
    // A restart may have replaced it in the meantime.
    if (!this.#isKept || this.#child !== died) return;
    const child = await this.#spawn();
    void child.exited.then((next) => this.#replace(child, next));
    this.#options.onChange(`${reason}; it was started again (pid ${child.pid}). See ${this.#logFile}`);
  }

  /** A process that ends before it was ever ready has wrong settings or a broken backend, and starting it again would not help. */
  async #untilReady(child: Child): Promise<void> {
    const { probesPort } = this.#options;
    // In a checkout of an earlier release, the health checks may be at the service's ports.
    const probes = probesPort === undefined ? null : `http://127.0.0.1:${probesPort}`;
    const look = async (): Promise<true | null> => {
      if (!child.running())
        throw new StackError(`${this.#title} ended while starting. The end of ${this.#logFile}:\n${child.lastWords()}`);
      const own = await Promise.all(Object.values(this.urls).map(isReady));
      return own.every(Boolean) || (probes !== null && (await isReady(probes))) ? true : null;
    };
    await until(`${this.#title} to be ready (log: ${this.#logFile})`, look, { everyMs: 50 });
  }

  get #pidFile(): string {
    return join(this.#options.pidDirectory, `${this.#title}.pid`);
  }

  get #entryFile(): string {
    if (this.name === 'single') return join(this.#checkout, 'infra', 'single', 'src', 'main.ts');
    return join(this.#checkout, this.name === 'notifier' ? 'packages' : 'services', this.name, 'src', 'main.ts');
  }
}

const isReady = async (url: string): Promise<boolean> =>
  (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => null))?.ok === true;
