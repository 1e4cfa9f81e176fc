import { fork, spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';
import type { Method } from '@quittance/contracts/call.ts';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { createApp } from '@quittance/http/server/app.ts';
import { readJson } from '@quittance/http/server/body.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { processEnvironment } from '@quittance/testkit/service-process.ts';
import { trustOf, trustSettingsOf } from '@quittance/testkit/trust.ts';
import { serviceSettings } from '../src/config.ts';

/** One call that arrived at the services' side. */
export type Call = { method: string; path: string; query: string; body: unknown };

/** What a service answers to its `nth` call, from 1. */
type Answer = (call: {
  nth: number;
  params: Record<string, string>;
  query: URLSearchParams;
  body: unknown;
}) => Reply | Promise<Reply>;

/**
 * All five services' internal APIs, each with every route, which answers what the test says.
 * @param answers by `METHOD /path` without `/internal/v1`.
 */
export async function startServices(answers: Record<string, Answer>) {
  const calls: Call[] = [];
  const routes = Object.entries(answers).map(([key, answer]): Route => {
    const [method = '', path = ''] = key.split(' ');
    let nth = 0;
    return {
      method: method as Method,
      path: `/internal/v1${path}`,
      // What each is for is the services' own business.
      access: 'viewer',
      handle: async (request) => {
        const body = method === 'POST' ? await readJson(request, 512 * 1024, (value) => value) : null;
        calls.push(toCall(request, body));
        return answer({ nth: (nth += 1), params: request.params, query: request.query, body });
      },
    };
  });
  const listening = await Promise.all(serviceNames.map((name) => listenAs(name, routes)));
  const urls = listening.map(({ name, url }) => [serviceSettings[name], url] as const);
  return {
    calls,
    env: {
      ...(Object.fromEntries(urls) as Record<(typeof serviceSettings)[ServiceName], string>),
      ...trustSettingsOf('ops'),
      USER: 'olga',
    },
    async [Symbol.asyncDispose]() {
      for (const { server } of listening) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** A call token is for one service, so each has an address of its own. */
async function listenAs(name: ServiceName, routes: Route[]) {
  const common = { logger: testLogger, metrics: testMetrics, ready: async () => undefined };
  const server = createServer(createApp({ name, ...common, routes, trust: trustOf(name) }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { name, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

type Result = { code: number | null; stdout: string; stderr: string };

/**
 * Runs the command line as an operator would, without a terminal.
 * @param options see child_process; with them it is a process of its own, else all commands of a test file share one.
 */
export function runOps(
  words: string[],
  env: Record<string, string>,
  options?: { cwd?: string; uid?: number },
): Promise<Result> {
  const whole = { ...processEnvironment(), ...env };
  return options === undefined ? runShared(words, whole) : runAlone(words, whole, options);
}

async function runAlone(words: string[], env: NodeJS.ProcessEnv, options: { cwd?: string; uid?: number }) {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, ...output };
}

let shared: ChildProcess | null = null;
let last: Promise<unknown> = Promise.resolve();
afterAll(() => shared?.disconnect());

/** One command after the other: they share a standard output. */
function runShared(words: string[], env: NodeJS.ProcessEnv): Promise<Result> {
  const next = last.then(async () => {
    shared ??= fork(new URL('shared-process.ts', import.meta.url), { env: processEnvironment(), silent: true });
    const { promise, resolve, reject }: PromiseWithResolvers<Result> = Promise.withResolvers();
    const isGone = () => reject(new Error(`the process that runs the commands ended during ${words.join(' ')}`));
    shared.once('message', resolve as (result: unknown) => void).once('exit', isGone);
    shared.send({ words, env });
    return promise.finally(() => shared?.off('exit', isGone));
  });
  last = next.catch(() => undefined);
  return next;
}

const toCall = (request: RouteRequest, body: unknown): Call => ({
  method: request.method,
  path: request.path.replace('/internal/v1', ''),
  query: request.query.toString(),
  body,
});
