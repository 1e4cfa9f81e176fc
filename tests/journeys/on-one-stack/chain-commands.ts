import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { ownEnvironment } from '../../support/journey-stack.ts';
import { send } from '../../support/http.ts';
import type { Shared } from './shared.ts';

const main = fileURLToPath(new URL('../../../infra/local/commands/chain.ts', import.meta.url));

type Ended = { code: number; output: string };

export const chainCommands = (shared: Shared): void =>
  describe('a chain command', () => {
    /** Runs it on this stack, which it finds by its file. */
    async function chain(...words: string[]): Promise<Ended> {
      const env = { ...ownEnvironment(), LOCAL_DIRECTORY: shared.directory.root };
      try {
        const { stdout } = await promisify(execFile)(process.execPath, [main, ...words], { env });
        return { code: 0, output: stdout };
      } catch (error) {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, output: stdout + stderr };
      }
    }

    /** A payment of the demo merchant, on a new wallet unless one is given. */
    async function payment(amount: string, wallet = newWallet()): Promise<Payment> {
      const { edge_url: edge, merchant } = shared.stack.file;
      const answer = await send('POST', `${edge}/api/v1/payments`, {
        headers: { 'X-API-Key': merchant.api_key, 'Idempotency-Key': randomUUID() },
        body: { amount, merchant_wallet: wallet, description: 'Tea' },
      });
      expect(answer).toMatchObject({ status: 201 });
      return answer.json<Payment>();
    }

    /** Resets the node for the journeys after this one. */
    afterAll(() => chain('resume-node'), 120_000);

    test('pays in every way, and each outcome follows the rules, also when several run at the same time', async () => {
      const amount = '12.345678';
      const ways: [name: string, ...lines: string[]][] = [
        ['pay', '✓ status: PAID', 'delivered'],
        ['short', '✓ unmatched transfers: underpaid', '✓ status: PENDING', '✓ PAID webhooks: none'],
        ['over', '✓ unmatched transfers: overpaid', '✓ status: PENDING', '✓ PAID webhooks: none'],
        ['late', '✓ status: EXPIRED', '✓ unmatched transfers: late', '✓ PAID webhooks: none'],
        ['twice', '✓ unmatched transfers: duplicate', '✓ status: PAID', 'delivered'],
        ['three', 'Sent 12.345678 + 12.345678 + 12.345678 USDT', 'duplicate, duplicate', '✓ status: PAID', 'delivered'],
        ['dropped-digits', 'Sent 12.34 USDT', '✓ unmatched transfers: underpaid', '✓ status: PENDING'],
      ];
      const ended = await Promise.all(
        ways.map(async ([way, ...lines]) => ({ lines, ...(await chain(way, (await payment(amount)).payment_url)) })),
      );
      for (const { code, output, lines } of ended) {
        expect({ code, output }).toEqual({ code: 0, output: expect.not.stringContaining('✗') });
        for (const line of lines) expect(output).toContain(line);
      }
    }, 300_000);

    test('delays a transfer that could be a late payer’s, so that it pays the intended payment', async () => {
      const wallet = newWallet();
      const { payment_url: earlier } = await payment('9.1', wallet);
      expect(await chain('advance', '86400', earlier)).toMatchObject({ code: 0 });
      const { payment_url: url } = await payment('9.1', wallet);
      expect(await chain('pay', url)).toMatchObject({
        code: 0,
        output: expect.stringMatching(/asked for the same and ended unpaid[\s\S]*✓ status: PAID/),
      });
    }, 180_000);

    test('refuses what cannot be done, with an explanation', async () => {
      const round = await payment('12.30');
      const [dropped, paid, unknown, seconds] = await Promise.all([
        chain('dropped-digits', round.payment_url),
        payment('3.21').then(
          async ({ payment_url: url }) => [await chain('pay', url), await chain('short', url)] as const,
        ),
        chain('pay', `http://127.0.0.1/pay/${'x'.repeat(43)}`),
        chain('advance', 'soon'),
      ]);
      expect(dropped).toMatchObject({ code: 1, output: expect.stringContaining('there is nothing to drop') });
      expect(paid[0]).toMatchObject({ code: 0 });
      expect(paid[1]).toMatchObject({ code: 1, output: expect.stringContaining('The payment is PAID') });
      expect(unknown).toMatchObject({ code: 1, output: expect.stringContaining('no payment with this link') });
      expect(seconds).toMatchObject({ code: 1, output: expect.stringContaining('not a whole number') });
      for (const { output } of [dropped, unknown, seconds]) expect(output).not.toMatch(/^\s+at /m);
    }, 120_000);

    test('moves the end of a payment earlier, and then to now', async () => {
      const { payment_url: url, payment_id: id, expires_at: end } = await payment('4.5');
      expect(await chain('advance', '600', url)).toMatchObject({
        code: 0,
        output: expect.stringMatching(new RegExp(`✓ ${id}: PENDING, and ends in [0-9.]+ s`)),
      });
      const { edge_url: edge } = shared.stack.file;
      const status = await send('GET', `${edge}/api/v1/payments/${url.split('/').at(-1)}`);
      expect(Date.parse(end) - Date.parse(status.json<Payment>().expires_at)).toBe(600_000);
      expect(await chain('advance', '86400', url)).toMatchObject({
        code: 0,
        output: expect.stringContaining(`✓ ${id}: EXPIRED`),
      });
      expect(await chain('advance', '1', url)).toMatchObject({
        code: 1,
        output: expect.stringContaining('No waiting payment'),
      });
    }, 180_000);

    test('removes a payment’s transfer by a reorg, after which it can be paid again', async () => {
      const { payment_url: url, payment_id: id } = await payment('6.7');
      const gone = await chain('reorg', url);
      expect(gone).toMatchObject({ code: 0, output: expect.stringContaining('✓ status: CHECKING') });
      expect(gone.output).toContain(`✓ ${id}: PENDING`);
      expect(await chain('pay', url)).toMatchObject({ code: 0, output: expect.stringContaining('✓ status: PAID') });
    }, 240_000);

    test('stops the node, which affects nothing else, and resumes it', async () => {
      const { payment_url: url } = await payment('7.8');
      expect(await chain('stop-node')).toMatchObject({
        code: 0,
        output: expect.stringMatching(/✓ node: stands still\n.*✓ API: answers 200/s),
      });
      expect(await chain('pay', url)).toMatchObject({
        code: 1,
        output: expect.stringContaining('resume-node'),
      });
      const meanwhile = await payment('8.9');
      expect(await chain('resume-node')).toMatchObject({
        code: 0,
        output: expect.stringContaining('✓ watcher: has read'),
      });
      const both = await Promise.all([url, meanwhile.payment_url].map((each) => chain('pay', each)));
      expect(both).toMatchObject([{ code: 0 }, { code: 0 }]);
    }, 300_000);
  });
