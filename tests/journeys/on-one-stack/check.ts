import { describe, expect, test } from '@jest/globals';
import { samplesIn } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../../support/database.ts';
import { scrape } from '../../support/observability.ts';
import { runOps } from './run-ops.ts';
import type { Shared } from './shared.ts';

type Report = { looked_at: Record<string, number>; broken: { rule: string; count: number; examples: string[] }[] };

const nobody = `pay_${'0'.repeat(32)}`;
const ago = "- interval '2 minutes'";

/**
 * What each statement breaks in the PAID payments $1, $2 and $3, and what repairs it. All changes are dated in the past, because the check
 * ignores newer ones.
 */
const damages: [rule: string, damage: string, repair: string][] = [
  [
    'I1 status and transfer agree',
    `update payments.transfer set payment_id = null where transaction_id = '$t1'`,
    `update payments.transfer set payment_id = '$p1' where transaction_id = '$t1'`,
  ],
  [
    'I7 a paid payment has its PAID event',
    `update webhooks.event set payment_id = '${nobody}' where event_id = '$e1'`,
    `update webhooks.event set payment_id = '$p1' where event_id = '$e1'`,
  ],
  [
    'money of the exact amount that came in time pays',
    `update payments.payment set status = 'EXPIRED', paid_at = null where payment_id = '$p2';
     update payments.transfer set payment_id = null, observed_at = observed_at ${ago} where transaction_id = '$t2'`,
    `update payments.payment set status = 'PAID', paid_at = now() ${ago} where payment_id = '$p2';
     update payments.transfer set payment_id = '$p2' where transaction_id = '$t2'`,
  ],
  [
    'I7 a payment that is not paid has no PAID event',
    `update webhooks.event set created_at = created_at ${ago} where event_id = '$e2'`,
    `select 1`,
  ],
  [
    'I13 a manual retry and its audit row exist together',
    `update webhooks.delivery set cycle = cycle + 1 where event_id = '$e3'`,
    `update webhooks.delivery set cycle = cycle - 1 where event_id = '$e3'`,
  ],
  [
    'what pays a payment is on chain',
    `update chain.transfer set phase = 'retracted' where transaction_id = '$t3'`,
    `update chain.transfer set phase = 'confirmed' where transaction_id = '$t3'`,
  ],
  [
    'what chain-watcher told of transfers is in the ledger',
    `update chain.transfer set version = version + 1, changed_at = now() ${ago} where transaction_id = '$t2'`,
    `update chain.transfer set version = version - 1 where transaction_id = '$t2'`,
  ],
  [
    'I3 counters are the payments, counted',
    `update payments.gate set used_lifetime = used_lifetime + 1`,
    `update payments.gate set used_lifetime = used_lifetime - 1`,
  ],
  [
    'the history of usage has every payment once',
    `insert into quota.usage_day select merchant_id, '2020-01-01', 9 from payments.gate`,
    `delete from quota.usage_day where day = '2020-01-01'`,
  ],
];

/** Runs after all the others: the data that they left must be consistent, and what is broken on purpose must be found. */
export const check = (shared: Shared): void =>
  describe('ops check', () => {
    const run = async (): Promise<{ code: number; report: Report }> => {
      const { code, stdout, stderr } = await runOps(shared, 'check', '--since', '2020-01-01T00:00:00Z', '--json');
      if (stdout === '') throw new Error(stderr);
      return { code, report: JSON.parse(stdout) as Report };
    };
    const sql = (text: string): Promise<unknown> =>
      withDatabase(shared.stack.file.postgres_url, (db) => db.query(text));

    test('finds nothing broken after everything that the journeys did', async () => {
      const { code, report } = await run();
      expect(report.broken).toEqual([]);
      expect(code).toBe(0);
      const { payments, events, merchants } = report.looked_at;
      expect(Math.min(payments!, events!, merchants!)).toBeGreaterThan(0);
    });

    test('finds each broken rule, and nothing once it is repaired', async () => {
      await sql(`update payments.payment set paid_at = paid_at ${ago} where status = 'PAID'`);
      const { rows: paid } = await withDatabase(shared.stack.file.postgres_url, (db) =>
        db.query<{ p: string; t: string; e: string }>(
          `select p.payment_id as p, t.transaction_id as t, e.event_id as e
             from payments.payment p join payments.transfer t using (payment_id) join webhooks.event e using (payment_id)
             join chain.transfer c on c.transaction_id = t.transaction_id and c.phase = 'confirmed'
            where t.block_timestamp between p.created_at and p.expires_at and p.cancelled_at is null
              and not exists (select from payments.transfer_acceptance a where a.payment_id = p.payment_id)
            order by p.created_at limit 3`,
        ),
      );
      expect(paid).toHaveLength(3);
      const filled = (text: string): string =>
        text.replaceAll(/\$([pte])([123])/g, (_, what: 'p' | 't' | 'e', which) => paid[Number(which) - 1]![what]);

      await sql(damages.map(([, damage]) => filled(damage)).join(';\n'));
      const { code, report } = await run();
      expect(report.broken.map(({ rule }) => rule)).toEqual(expect.arrayContaining(damages.map(([rule]) => rule)));
      expect(code).toBe(1);

      await sql(damages.map(([, , repair]) => filled(repair)).join(';\n'));
      expect(await run()).toMatchObject({ code: 0, report: { broken: [] } });
    });

    test('with --report, every gateway exposes what was found and when, until nothing is broken any more', async () => {
      const rule = 'the history of usage has every payment once';
      const shows = async (broken: Record<string, number>, since: number): Promise<void> =>
        eventually(
          async () => {
            for (const { text } of (await scrape(shared.stack.file)).filter(
              ({ service }) => service === 'api-gateway',
            )) {
              const samples = samplesIn(text);
              const found = samples.filter(({ name }) => name === 'check_violations');
              expect(Object.fromEntries(found.map(({ labels, value }) => [labels['rule'], value]))).toEqual(broken);
              const [whole] = samples.filter(({ name }) => name === 'check_last_run_timestamp_seconds');
              expect(whole).toMatchObject({ labels: { outcome: 'whole' } });
              expect(whole!.value).toBeGreaterThan(since / 1000);
            }
          },
          { intervalMs: 1_000 },
        );

      await sql(`insert into quota.usage_day select merchant_id, '2020-01-01', 9 from payments.gate limit 1`);
      const began = Date.now();
      expect((await runOps(shared, 'check', '--report')).code).toBe(1);
      await shows({ [rule]: 1 }, began);

      await sql(`delete from quota.usage_day where day = '2020-01-01'`);
      const again = Date.now();
      expect((await runOps(shared, 'check', '--report')).code).toBe(0);
      await shows({}, again);
    });
  });
