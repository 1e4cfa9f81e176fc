import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { serve } from './forked.ts';

/** The routes, as express writes them, and what they answer. */
type Answers = { route: string; body: unknown }[];

/** Servers that give the same answers as the product and do nothing else: one process each. */
const handlers = serve({
  /**
   * Answers with JSON. With `postgresUrl`, sends one statement for each request on a pool of ten: the least that a read from the
   * database takes.
   * @returns the port.
   */
  open(answers: Answers, postgresUrl: string | null): Promise<number> {
    if (postgresUrl === null) return listen(answers, async () => undefined);
    const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 });
    return listen(answers, () => pool.query({ name: 'one', text: 'select 1' }));
  },
});
export type Baseline = typeof handlers;

async function listen(answers: Answers, before: () => Promise<unknown>): Promise<number> {
  const app = express();
  for (const { route, body } of answers) {
    app.get(route, async (_request, response) => {
      await before();
      response.json(body);
    });
  }
  const server = createServer(app).listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
