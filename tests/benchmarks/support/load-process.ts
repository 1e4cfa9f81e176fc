import { randomBytes, randomUUID } from 'node:crypto';
import { Client, type Dispatcher } from 'undici';
import { serve } from './forked.ts';
import type { LoadGenerator, LoadRequest, LoadResult, Target } from './load.ts';

/** Each connection sends its next request as soon as it has the whole answer to the one before. */

const targets = new Map<string, Target & { next: number }>();

const handlers = serve({
  prepare(target: Target) {
    const { next = 0 } = targets.get(target.name) ?? {};
    targets.set(target.name, { ...target, next });
  },
  run(name: string, how: Parameters<LoadGenerator['run']>[1]) {
    const target = targets.get(name);
    if (target === undefined) throw new Error(`no such target: ${name}`);
    return run(target, how);
  },
});
export type LoadProcess = typeof handlers;

/** A service on a busy machine may answer 503. Nothing has happened then, so another request replaces this one. */
const LATE = '503';

async function run(target: Target & { next: number }, order: Parameters<LoadGenerator['run']>[1]): Promise<LoadResult> {
  const clients = Array.from({ length: order.connections }, () => new Client(target.origin, { pipelining: 1 }));
  const latencies: number[] = [];
  const failures: Record<string, number> = {};
  const expected = String(target.status ?? 200);
  let sent = 0;
  let late = 0;
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const isOver = (): boolean =>
    order.requests === undefined ? performance.now() - startedAt >= order.durationMs : sent >= order.requests;

  const oneAfterAnother = async (client: Client): Promise<void> => {
    while (!isOver()) {
      const request = target.requests[target.next++ % target.requests.length];
      if (request === undefined) throw new Error(`${target.name} has no requests`);
      sent += 1;
      const sentAt = performance.now();
      const outcome = await exchange(client, request.fresh === true ? refreshed(request) : request);
      if (outcome === expected) latencies.push(performance.now() - sentAt);
      else if (outcome === LATE && late < (order.requests ?? Infinity)) {
        late += 1;
        sent -= 1;
      } else failures[outcome] = (failures[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(clients.map(oneAfterAnother));
  if (latencies.length === 0 && late > 0) failures[LATE] = late;

  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  await Promise.all(clients.map((client) => client.close()));
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return {
    answered: latencies.length,
    failures,
    seconds,
    p50_ms: percentile(0.5),
    p99_ms: percentile(0.99),
    cpu_us: cpu.user + cpu.system,
  };
}

/** @returns the answer's status when all of it has arrived, or the error's code. */
function exchange(client: Client, { path, headers, body }: LoadRequest): Promise<string> {
  return new Promise((resolve) => {
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode) => {
        status = statusCode;
      },
      onResponseData: () => undefined,
      onResponseEnd: () => resolve(String(status)),
      onResponseError: (_controller, error) => resolve((error as { code?: string }).code ?? error.name),
    };
    if (body === undefined) client.dispatch({ method: 'GET', path, headers }, handler);
    else client.dispatch({ method: 'POST', path, headers, body }, handler);
  });
}

let numbered = 0;

/** The same request with new values in its headers and body. */
function refreshed({ path, headers, body }: LoadRequest): LoadRequest {
  numbered += 1;
  const values: Record<string, () => string> = {
    '{key}': randomUUID,
    '{wallet}': () => randomBytes(20).toString('hex'),
    '{number}': () => String(numbered),
  };
  const fill = (text: string): string => text.replace(/\{(?:key|wallet|number)\}/g, (name) => values[name]?.() ?? name);
  const filled = Object.entries(headers).map(([name, value]) => [name, fill(value)]);
  return {
    path,
    headers: Object.fromEntries(filled) as LoadRequest['headers'],
    ...(body !== undefined && { body: fill(body) }),
  };
}
