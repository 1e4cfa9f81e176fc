import type { ClientRequest } from 'node:http';
import { beforeAll, describe, expect } from '@jest/globals';
import { newPublicToken, newSecret } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { burstOf, clientAddress as address, hold, rateProblems, type Burst } from '../../support/bursts.ts';
import { send } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { apiAt, type Api } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';

const ACTIVE = 30;
const KEYLESS_READ = '/api/v1/merchant/limits';
const addressHeaders = [
  ...['X-Forwarded-For', 'X-Real-IP', 'X-Client-IP', 'True-Client-IP', 'CF-Connecting-IP'],
  ...['X-Originating-IP', 'X-Cluster-Client-IP'],
];

/** The edge's limits for one client address, tested with requests that the application answers without counting. */
export function edgeLimitsSection(contract: Contract): void {
  describe('public gateway limits', () => {
    let api: Api;

    beforeAll(() => {
      api = apiAt(contract.stack.edge_url);
    });

    const readFrom = (from: string, headers = {}) => api('GET', KEYLESS_READ, { from, headers });

    rule(
      ['limits.edge.api', 'errors.body.5', 'errors.429'],
      'thirty requests to /api/v1/ pass at once, then ten a second, then 429 without Retry-After',
      async () => {
        const from = address();
        const burst = await burstOf(150, () => readFrom(from));
        expectRate(burst, { burst: 30, perSecond: 10 });
        for (const { headers } of burst.refused) {
          expect(headers).not.toHaveProperty('retry-after');
          expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
        }
      },
    );

    rule('limits.edge.api', 'requests of all kinds to /api/v1/ share one allowance', async () => {
      const from = address();
      const paths = [KEYLESS_READ, '/api/v1/payments', '/api/v1/payments/page', '/api/v1/merchant/webhook'];
      const burst = await burstOf(150, (index) => api('GET', paths[index % paths.length]!, { from }));
      expectRate(burst, { burst: 30, perSecond: 10 });
    });

    rule('limits.edge.api', 'another address is not affected by one that is over its limit', async () => {
      const [busy, quiet] = [address(), address()];
      expect((await burstOf(120, () => readFrom(busy))).refused).not.toEqual([]);
      const [ofQuiet, ofBusy] = await Promise.all([readFrom(quiet), burstOf(60, () => readFrom(busy))]);
      expect(ofQuiet.status).toBe(401);
      expect(ofBusy.refused).not.toEqual([]);
    });

    rule(
      'limits.edge.api',
      'an address that a client claims gives it no more requests and harms no other client',
      async () => {
        const [liar, victim] = [address(), address()];
        const invented = (index: number) => {
          const other = index % 2 === 0 ? address() : victim;
          return { ...Object.fromEntries(addressHeaders.map((name) => [name, other])), Forwarded: `for=${other}` };
        };
        const burst = await burstOf(150, (index) => readFrom(liar, invented(index)));
        expectRate(burst, { burst: 30, perSecond: 10 });
        const ofVictim = await Promise.all(Array.from({ length: 25 }, () => readFrom(victim)));
        expect(ofVictim.map(({ status }) => status)).toEqual(ofVictim.map(() => 401));
      },
    );

    rule(
      ['limits.edge.public-status', 'errors.body.5'],
      'twenty reads of public statuses pass at once, then five a second, whatever the tokens',
      async () => {
        const from = address();
        const burst = await burstOf(120, () => api('GET', `/api/v1/payments/${newPublicToken()}`, { from }));
        expectRate(burst, { burst: 20, perSecond: 5 });
        for (const { headers } of burst.refused) expect(headers).not.toHaveProperty('retry-after');
      },
    );

    rule('limits.edge.public-status', 'the neighbouring list endpoints do not count as reads of a status', async () => {
      const from = address();
      const answers = await Promise.all(
        Array.from({ length: 25 }, () => api('GET', '/api/v1/payments/page', { from })),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    });

    rule(
      ['limits.edge.rotation', 'errors.body.5'],
      'three rotations of an API key beyond the first pass at once, then one a minute, whatever the secrets',
      async () => {
        const from = address();
        const burst = await burstOf(30, () => rotationFrom(from));
        expectRate(burst, { burst: 3, perSecond: 1 / 60 });
        for (const { headers } of burst.refused) expect(headers).not.toHaveProperty('retry-after');
        // The rest of the API has its own allowance.
        expect((await readFrom(from)).status).toBe(401);
      },
    );

    rule(
      'limits.edge.api',
      'key rotation is refused to a client that has used up ten of the allowance, while reads still pass',
      async () => {
        await eventually(async () => {
          const from = address();
          const startedAt = performance.now();
          const reads = await Promise.all(Array.from({ length: 25 }, () => readFrom(from)));
          const rotation = await rotationFrom(from);
          const seconds = (performance.now() - startedAt) / 1_000;
          const read = await readFrom(from);
          // 25 used, minus ten for each second that has passed, must be more than ten. Otherwise the machine was too slow.
          if (seconds > 1.2) throw new Error(`the requests took ${seconds} s`);
          expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 401));
          expect([rotation.status, read.status]).toEqual([429, 401]);
        });
        const fresh = address();
        const few = await Promise.all(Array.from({ length: 8 }, () => readFrom(fresh)));
        expect(few.map(({ status }) => status)).toEqual(few.map(() => 401));
        expect((await rotationFrom(fresh)).status).toBe(401);
      },
    );

    rule('limits.edge.pages', 'fifty pages and assets pass at once, then twenty a second', async () => {
      const from = address();
      const page = `${contract.stack.edge_url}/pay/${newPublicToken()}`;
      const [asset] = /\/assets\/[\w.-]+/.exec((await send('GET', page)).text)!;
      const urls = [page, contract.stack.edge_url + asset];
      expect((await send('GET', urls[1]!)).status).toBe(200);
      const burst = await burstOf(250, (index) => send('GET', urls[index % 2]!, { from }));
      expectRate(burst, { burst: 50, perSecond: 20 });
      for (const { headers } of burst.refused) expect(headers).not.toHaveProperty('retry-after');
      // Pages use nothing of the API's allowance.
      expect((await readFrom(from)).status).toBe(401);
    });

    rule(
      'limits.edge.connections',
      'thirty requests are in progress at a time, the next is 429 without Retry-After, until one of them ends',
      async () => {
        const from = address();
        const held: ClientRequest[] = [];
        // Pages have a burst of fifty, more than all requests of this test, so the rate refuses none of them.
        const url = `${contract.stack.edge_url}/pay/${newPublicToken()}`;
        const next = () => send('GET', url, { from });
        try {
          for (let count = 1; count < ACTIVE; count += 1) held.push(await hold(url, from));
          expect((await next()).status).toBe(404);
          // The edge may count an answered request a moment longer than its client.
          held.push(await eventually(() => hold(url, from), { intervalMs: 100 }));
          const refused = await next();
          expect(refused.status).toBe(429);
          expect(refused.headers).not.toHaveProperty('retry-after');
          expect((await send('GET', url, { from: address() })).status).toBe(404);
          held.pop()!.destroy();
          // The edge may notice a moment later. At this interval the rate refuses nothing.
          await eventually(async () => expect((await next()).status).toBe(404), { intervalMs: 100 });
        } finally {
          for (const one of held) one.destroy();
        }
      },
    );

    const rotationFrom = (from: string) =>
      api('POST', '/api/v1/merchant/rotate-key', { from, headers: { 'secret-key': newSecret('qr') } });
  });
}

const expectRate = (burst: Burst, allowed: { burst: number; perSecond: number }): void =>
  expect(rateProblems(burst, allowed)).toEqual([]);
