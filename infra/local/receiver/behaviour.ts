import { requireEndpoint } from './forward.ts';

/** How the receiver answers. Without any of these: 200 immediately. */
export type Behaviour = {
  /** Status of the answer, 200–599. */
  status?: number;
  headers?: Record<string, string>;
  /** Milliseconds to wait before the answer. */
  delay_ms?: number;
  /** Never answers; the connection stays open. */
  hang?: boolean;
  /** Resets the connection instead of answering. */
  reset?: boolean;
  /** Forwards the webhook to this endpoint and returns its answer. Resets the connection when there is none. */
  forward_to?: string;
};

export type BehaviourRequest = Behaviour & {
  /** Only for this host name. Absent: for every host without its own behaviour. */
  host?: string;
  /** For this many webhooks, then 200 again. Absent: until changed. */
  times?: number;
};

const maxHosts = 10_000;
/** Used as the host: all hosts that have no behaviour of their own. */
export const everyHost = '*';

/** The next behaviour of each host. A new behaviour replaces the host's earlier one. */
export class Behaviours {
  readonly #byHost = new Map<string, { behaviour: Behaviour; left: number }>();

  set({ host = everyHost, times = Infinity, ...behaviour }: BehaviourRequest): void {
    if (this.#byHost.size >= maxHosts) this.#byHost.clear();
    this.#byHost.set(host.toLowerCase(), { behaviour, left: times });
  }

  /** Clears this host's behaviour, or all without a host. */
  clear(host?: string): void {
    if (host === undefined) this.#byHost.clear();
    else this.#byHost.delete(host.toLowerCase());
  }

  next(host: string): Behaviour {
    const key = this.#byHost.has(host) ? host : everyHost;
    const entry = this.#byHost.get(key);
    if (!entry) return {};
    entry.left -= 1;
    if (entry.left <= 0) this.#byHost.delete(key);
    return entry.behaviour;
  }
}

/** @throws Error naming the first invalid member. */
export function parseBehaviour(value: unknown): BehaviourRequest {
  const given = record(value);
  for (const [name, isRight] of Object.entries(members)) {
    if (given[name] !== undefined && !isRight(given[name])) throw new Error(`${name} is not right`);
  }
  const unknown = Object.keys(given).find((name) => !(name in members));
  if (unknown !== undefined) throw new Error(`${unknown} is not known; known are ${Object.keys(members).join(', ')}`);
  return given;
}

export function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('the body is not a JSON object');
  return value as Record<string, unknown>;
}

const wholeNumber = (min: number, max: number) => (value: unknown) =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
const truth = (value: unknown) => typeof value === 'boolean';

const members: Record<keyof BehaviourRequest, (value: unknown) => boolean> = {
  host: (value) => typeof value === 'string' && value.length > 0,
  status: wholeNumber(200, 599),
  headers: (value) => Object.values(record(value)).every((text) => typeof text === 'string'),
  delay_ms: wholeNumber(0, 600_000),
  hang: truth,
  reset: truth,
  forward_to: (value) => typeof value === 'string' && requireEndpoint(value) !== '',
  times: wholeNumber(1, 1_000_000),
};
