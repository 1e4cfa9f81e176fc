import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Method } from '@quittance/contracts/call.ts';
import { createApp } from '@quittance/http/server/app.ts';
import { readJson } from '@quittance/http/server/body.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { processEnvironment } from '@quittance/testkit/service-process.ts';

const internalToken = 'a-token-for-tests-of-the-operator-commands';

/** One call that arrived at the services' side. */
export type Call = { method: string; path: string; query: string; body: unknown };

/** What a service answers to its `nth` call, from 1. */
type Answer = (call: { nth: number; params: Record<string, string>; query: URLSearchParams; body: unknown }) => Reply;

/**
 * All five services' internal APIs on one loopback address, each route answering what the test says.
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
      handle: async (request) => {
        const body = method === 'POST' ? await readJson(request, 4096, (value) => value) : null;
        calls.push(toCall(request, body));
        return answer({ nth: (nth += 1), params: request.params, query: request.query, body });
      },
    };
  });
  const common = { logger: testLogger, metrics: testMetrics };
  const app = createApp({ name: 'services', ...common, routes, internalToken, ready: async () => undefined });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    calls,
    env: {
      API_GATEWAY_URL: url,
      PAYMENTS_URL: url,
      QUOTA_URL: url,
      WEBHOOK_DISPATCHER_URL: url,
      CHAIN_WATCHER_URL: url,
      INTERNAL_TOKEN: internalToken,
      USER: 'olga',
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs the command line as an operator would, without a terminal. @param options.cwd @param options.uid see child_process. */
export async function runOps(
  words: string[],
  env: Record<string, string>,
  options: { cwd?: string; uid?: number } = {},
) {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, ...words], {
    env: { ...processEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, ...output };
}

const toCall = (request: RouteRequest, body: unknown): Call => ({
  method: request.method,
  path: request.path.replace('/internal/v1', ''),
  query: request.query.toString(),
  body,
});
