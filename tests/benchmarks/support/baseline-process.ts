import { createServer, type Server } from 'node:http';
import express from 'express';
import pg from 'pg';
import type { BaselineOrder } from './baselines.ts';

/** What the product is held against: servers that give the same answers and do nothing else. One process each. */
process.once('message', ({ kind, answers, postgresUrl }: BaselineOrder) => {
  const server: Server =
    kind === 'http'
      ? bareHttp(answers)
      : kind === 'express'
        ? bareExpress(answers)
        : expressWithQuery(answers, postgresUrl);
  server.listen({ host: '127.0.0.1', port: 0 }, () => process.send?.(server.address()));
});
process.on('disconnect', () => process.exit(0));

/** Routes as express has them, and `response.json` as everybody uses it. */
function bareExpress(answers: BaselineOrder['answers']): Server {
  const app = express();
  for (const { route, body } of answers) {
    app.get(route, (_request, response) => {
      response.json(body);
    });
  }
  return createServer(app);
}

/** One round trip to the database for each request: what the product cannot do without. */
function expressWithQuery(answers: BaselineOrder['answers'], postgresUrl: string): Server {
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 });
  const app = express();
  for (const { route, body } of answers) {
    app.get(route, async (_request, response) => {
      await pool.query({ name: 'one', text: 'select 1' });
      response.json(body);
    });
  }
  return createServer(app);
}

/** No routing at all: which answer is meant shows at the end of the path, where one route has something the other has not. */
function bareHttp(answers: BaselineOrder['answers']): Server {
  const known = answers.map(({ route, body }) => ({ ending: /\/[^/:]*$/.exec(route)?.[0] ?? '', body }));
  return createServer((request, response) => {
    const answer = known.find(({ ending }) => ending !== '' && request.url?.endsWith(ending) === true);
    const text = JSON.stringify((answer ?? known.find(({ ending }) => ending === ''))?.body);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
}
