import { beforeAll, describe, expect } from '@jest/globals';
import { newSecret } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { expectRefused } from '../support/counted.ts';
import { inDatabase } from '../../support/database.ts';
import { apiAt, type Api } from '../../support/merchant.ts';
import { rule } from '../support/rule.ts';

const LIMIT = 5;
const WINDOW_MS = 60_000;

/** When a request was sent and when it was answered, in milliseconds of the monotonic clock. */
type Attempt = { sentAt: number; answeredAt: number; answer: HttpAnswer };

/**
 * The window of one counter from its first request to its end: the counter of an unknown rotation secret. Call `open` before all other
 * sections and `section` after them, so that little time is left to wait.
 */
export function rateWindows(contract: Contract): { open: () => void; section: () => void } {
  const secret = newSecret('qr');
  const swept = newSecret('qr');
  const attempts: Attempt[] = [];
  let edge: Api;
  let opened: Promise<void>;

  async function attempt(): Promise<Attempt> {
    const sentAt = performance.now();
    const answer = await edge('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': secret } });
    const made = { sentAt, answeredAt: performance.now(), answer };
    attempts.push(made);
    return made;
  }

  async function openBoth(): Promise<void> {
    edge = apiAt(contract.stack.edge_url);
    for (let count = 1; count <= LIMIT + 1; count += 1) await attempt();
    await edge('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': swept } });
    await inDatabase(
      contract.stack,
      `update gateway.rate_limit_window set started_at = started_at - interval '61 s', ends_at = ends_at - interval '61 s'
       where scope = 'key_rotation' and subject = encode(sha256($1::text::bytea), 'hex')`,
      [swept],
    );
  }

  /** A failure here belongs to one of the tests below, not to every other section. */
  const open = (): void =>
    beforeAll(async () => {
      opened = openBoth();
      await opened.catch(() => undefined);
    });

  const section = (): void =>
    describe('rate-limit windows', () => {
      rule(
        ['limits.app.window', 'limits.app.rule6', 'errors.body.4'],
        'a window begins with its first request and ends when Retry-After says, however many attempts are made meanwhile',
        async () => {
          await opened;
          const early = attempts.slice(0, LIMIT + 1).map(({ answer }) => answer.status);
          expect(early).toEqual([...Array<number>(LIMIT).fill(401), 429]);
          const admitted = await eventually(
            async () => {
              const made = await attempt();
              if (made.answer.status === 429) throw new Error('the window has not ended');
              return made;
            },
            { timeoutMs: WINDOW_MS + 5_000, intervalMs: 400 },
          );
          expect(admitted.answer.status).toBe(401);
          const refusals = attempts.filter(({ answer }) => answer.status === 429);
          for (const { answer } of refusals) expectRefused(answer, WINDOW_MS / 1_000);

          // Seconds are rounded up: the window ends within the last announced second.
          const secondsLeft = refusals.map(({ answer }) => Number(answer.headers['retry-after']));
          expect(secondsLeft).toEqual(secondsLeft.toSorted((a, b) => b - a));
          const notBefore = Math.max(
            ...refusals.map(({ sentAt }, index) => sentAt + (secondsLeft[index]! - 1) * 1_000),
          );
          const notAfter = Math.min(
            ...refusals.map(({ answeredAt }, index) => answeredAt + secondsLeft[index]! * 1_000),
          );
          expect(admitted.answeredAt).toBeGreaterThan(notBefore);
          for (const { sentAt } of refusals) expect(sentAt).toBeLessThan(notAfter);
          const firstAnsweredAt = attempts[0]!.answeredAt;
          expect(notAfter).toBeGreaterThanOrEqual(attempts[0]!.sentAt + WINDOW_MS);
          expect(notBefore).toBeLessThanOrEqual(firstAnsweredAt + WINDOW_MS);
        },
        120_000,
      );

      rule(
        'limits.app.window',
        'after the end of a window the next one admits the full number again, from its first request on',
        async () => {
          const made = [];
          for (let count = 2; count <= LIMIT + 1; count += 1) made.push((await attempt()).answer);
          expect(made.map(({ status }) => status)).toEqual([...Array<number>(LIMIT - 1).fill(401), 429]);
          expect(Number(made.at(-1)!.headers['retry-after'])).toBeGreaterThan(WINDOW_MS / 2_000);
        },
      );

      rule('limits.app.window', 'ended windows are deleted, and no others', async () => {
        const rowsOf = (of: string) =>
          inDatabase<{ count: number }>(
            contract.stack,
            `select count from gateway.rate_limit_window where subject = encode(sha256($1::text::bytea), 'hex')`,
            [of],
          );
        await eventually(async () => expect(await rowsOf(swept)).toEqual([]), {
          intervalMs: 500,
        });
        expect(await rowsOf(secret)).toEqual([{ count: LIMIT + 1 }]);
      });
    });

  return { open, section };
}
