import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ReadTrust } from '@quittance/contracts/http/trust.ts';
import { NOTIFIER, serviceNames } from '@quittance/contracts/service-name.ts';
import { missingLabels, missingSeries } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { withDatabase } from '../support/database.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { LocalChain } from '../support/local-chain.ts';
import {
  documentedMetrics,
  everythingShown,
  questionsOfDashboards,
  questionsOfRules,
  scrape,
  shownMetrics,
  withQuietLabels,
} from '../support/observability.ts';
import { Shop } from '../support/shop.ts';

/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 600 };

describe('one payment, from creation to the verified webhook', () => {
  let stack: JourneyStack;
  let chain: LocalChain;

  beforeAll(async () => {
    stack = await journeyStack();
    chain = new LocalChain(stack.file.chain.rpc_url);
  });

  afterAll(() => stack.close(), 180_000);

  /** As if the 45 seconds had passed after which another dispatcher may take over the deliveries of a dead one. */
  const lapseLeases = () =>
    withDatabase(stack.file.postgres_url, async (db) => {
      await db.query('update webhooks.delivery set next_attempt_at = now() where lease_id is not null');
      await db.query('update webhooks.lane set next_due_at = now() where next_due_at > now()');
    });

  /** Waits until the payment is PAID and its webhook was received, and checks everything that a merchant can see of it. */
  async function expectPaidOnce(shop: Shop, paymentId: string, amount: string): Promise<void> {
    const paid = await eventually(async () => {
      const details = await shop.details(paymentId);
      expect(details.status).toBe('PAID');
      return details;
    }, patience);
    const received = await eventually(async () => {
      const events = (await shop.webhooks()).filter(({ body }) => body.payment_id === paymentId);
      expect(events).not.toHaveLength(0);
      return events;
    }, patience);
    await eventually(async () => {
      expect(await shop.deliveries(paymentId)).toMatchObject([{ status: 'delivered', error_category: null }]);
    }, patience);
    expect(received.every(({ verified }) => verified)).toBe(true);
    expect(new Set(received.map(({ body }) => body.event_id)).size).toBe(1);
    expect(received[0]!.body).toEqual({
      event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      payment_id: paymentId,
      status: 'PAID',
      expected_amount: amount,
      transaction_id: paid.transaction!.transaction_id,
      transaction_event_index: paid.transaction!.transaction_event_index,
      description: paid.description,
    });
  }

  test(
    'the customer pays, the merchant sees CHECKING, then PAID, and gets one signed webhook',
    () =>
      withinOneDay(async () => {
        const shop = await Shop.open(stack);
        const created = await shop.create('10.50');
        expect(created.status).toBe(201);
        expect(created.body).toMatchObject({ status: 'PENDING', amount: '10.50', currency: 'USDT', network: 'local' });

        const seen = await chain.withMiningStopped(async () => {
          const transfer = await shop.pay('10.5');
          await eventually(async () => {
            expect((await shop.details(created.body.payment_id)).status).toBe('CHECKING');
          }, patience);
          return transfer;
        });

        await expectPaidOnce(shop, created.body.payment_id, '10.50');
        expect(await shop.webhooks()).toHaveLength(1);
        const details = await shop.details(created.body.payment_id);
        expect(details.transaction).toMatchObject({
          transaction_id: seen.transactionHash.slice(2),
          block_number: seen.blockNumber,
        });
        expect(await shop.limits()).toMatchObject({ requests_used: 1, daily_used: 1, creation_allowed: true });
      }),
    240_000,
  );

  test('metrics are documented as they are exposed, and alerts and dashboards query only these', async () => {
    const shop = await Shop.open(stack);
    const { body: payment } = await shop.create('8.25');
    await shop.pay('8.25');
    await expectPaidOnce(shop, payment.payment_id, '8.25');
    expect((await shop.call('GET', '/payments/none')).status).toBe(404);
    // Where nobody makes copies, nothing is said about them.
    await withDatabase(stack.file.postgres_url, (db) =>
      db.query('update gateway.backup_report set succeeded_at = now(), failed_at = now()'),
    );
    // Some are measured only every few seconds.
    await eventually(async () => {
      const scraped = await scrape(stack.file);
      // The notifier does not run here; its own test compares its metrics.
      const documented = documentedMetrics().filter(({ services }) => !services.includes(NOTIFIER));
      const shown = withQuietLabels(shownMetrics(scraped), documented);
      const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
      expect(documented).toEqual(shown.sort(byName));
      const all = everythingShown(scraped);
      const questions = [...questionsOfRules(), ...questionsOfDashboards()];
      const unknown = questions
        .filter(({ expr }) => !expr.includes('notices_'))
        .map((question) => ({
          where: question.where,
          missing: [...missingSeries(question, all), ...missingLabels(question, all)],
        }));
      expect(unknown.filter(({ missing }) => missing.length > 0)).toEqual([]);
    }, patience);
  });

  test('every service says that it has its own key and needs no shared token', async () => {
    for (const name of serviceNames) {
      const url = `${stack.file.services[name].url}${ReadTrust[name].path}`;
      const answer = await fetch(url, { headers: callAs(stack.file, name) });
      expect([name, answer.status, await answer.json()]).toEqual([
        ...[name, 200],
        { has_key: true, accepts_internal_token: false, watched_seconds: null, legacy: [] },
      ]);
    }
  });

  test('the bare address leads a browser to the guide', async () => {
    const answer = await fetch(stack.file.edge_url, { headers: { accept: 'text/html' }, redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs']);
    expect((await fetch(stack.file.edge_url)).status).toBe(404);
  });

  test('the checkout page follows the payment', async () => {
    const shop = await Shop.open(stack);
    const { body: payment } = await shop.create('7.25');
    const waiting = await fetch(payment.payment_url);
    expect(waiting.status).toBe(200);
    expect(await waiting.text()).toContain('7.25');
    await shop.pay('7.25');
    await expectPaidOnce(shop, payment.payment_id, '7.25');
    const token = payment.payment_url.split('/').pop()!;
    expect((await shop.call('GET', `/payments/${token}`)).body).toMatchObject({ status: 'PAID', amount: '7.25' });
  });

  test('every service is killed once during a payment, and the payment still becomes PAID', async () => {
    const shop = await Shop.open(stack);
    const kill = async (name: string): Promise<void> => {
      await Promise.all(stack.services.filter((service) => service.name === name).map((service) => service.kill()));
    };
    const idempotencyKey = randomUUID();
    await kill('payments');
    await kill('quota');
    const created = await eventually(async () => {
      const answer = await shop.create('21.000001', idempotencyKey);
      expect(answer.status).toBe(201);
      return answer.body;
    }, patience);
    await kill('chain-watcher');
    await shop.pay('21.000001');
    await kill('payments');
    await kill('api-gateway');
    await eventually(async () => {
      expect((await shop.details(created.payment_id)).status).not.toBe('PENDING');
    }, patience);
    await kill('webhook-dispatcher');
    await lapseLeases();
    await expectPaidOnce(shop, created.payment_id, '21.000001');
    const replay = await shop.create('21.000001', idempotencyKey);
    expect(replay.body).toEqual(created);
    expect((await shop.limits()).lifetime_requests_used).toBe(1);
  });

  test('a payment created while the broker is down is answered 201 and becomes PAID once the broker is back', async () => {
    const shop = await Shop.open(stack);
    await stack.backends.broker!.stopApp();
    const created = [];
    try {
      for (const amount of ['30.01', '30.02', '30.03']) created.push(await shop.create(amount));
      expect(created.map(({ status }) => status)).toEqual([201, 201, 201]);
      for (const { body } of created) await shop.pay(body.amount);
    } finally {
      await stack.backends.broker!.startApp();
    }
    for (const { body } of created) await expectPaidOnce(shop, body.payment_id, body.amount);
    expect(await shop.webhooks()).toHaveLength(3);
  });

  test('a reorg that drops the transfer moves the payment back to PENDING, and paying again settles it once', async () => {
    const shop = await Shop.open(stack);
    const { body: payment } = await shop.create('44.4');
    await chain.withMiningStopped(async () => {
      await shop.pay('44.4');
      await eventually(async () => {
        expect((await shop.details(payment.payment_id)).status).toBe('CHECKING');
      }, patience);
      await chain.dropLastBlock();
      await eventually(async () => {
        expect((await shop.details(payment.payment_id)).status).toBe('PENDING');
      }, patience);
    });
    expect(await shop.webhooks()).toEqual([]);
    await shop.pay('44.4');
    await expectPaidOnce(shop, payment.payment_id, '44.4');
    expect(await shop.webhooks()).toHaveLength(1);
  });

  test('a reorg that moves the transfer to another block pays once, and that block is shown', async () => {
    const shop = await Shop.open(stack);
    const { body: payment } = await shop.create('45.4');
    const transfer = await chain.withMiningStopped(async () => {
      const sent = await shop.pay('45.4');
      await eventually(async () => {
        expect((await shop.details(payment.payment_id)).status).toBe('CHECKING');
      }, patience);
      await chain.delayLastTransaction(sent.transactionHash);
      await eventually(async () => {
        const { status, transaction } = await shop.details(payment.payment_id);
        expect({ status, transaction }).toMatchObject({
          status: 'CHECKING',
          transaction: { transaction_id: sent.transactionHash.slice(2), block_number: sent.blockNumber + 1 },
        });
      }, patience);
      return sent;
    });
    await expectPaidOnce(shop, payment.payment_id, '45.4');
    expect(await shop.webhooks()).toHaveLength(1);
    const paid = await shop.details(payment.payment_id);
    expect(paid.transaction).toMatchObject({ block_number: transfer.blockNumber + 1 });
    expect(paid.unmatched_transfers).toEqual([]);
  });

  // The last test of this stack, because its network stays halted afterwards.
  test('a fork below what the chain had called final halts the network and leaves the payment PAID', async () => {
    type ChainState = { head: number; cursor: number; halted_at: string | null };
    const network = async (): Promise<ChainState> => {
      const headers = callAs(stack.file, 'chain-watcher');
      const url = `${stack.file.services['chain-watcher'].url}/internal/v1/chains`;
      return ((await (await fetch(url, { headers })).json()) as ChainState[])[0]!;
    };
    const shop = await Shop.open(stack);
    const { body: payment } = await shop.create('46.4');
    const { blockNumber } = await shop.pay('46.4');
    await expectPaidOnce(shop, payment.payment_id, '46.4');
    const paid = await shop.details(payment.payment_id);
    await chain.withMiningStopped(async () => {
      // On the local chain, a block is final when two epochs of 32 blocks follow it.
      await chain.mine(70);
      const { cursor } = await eventually(async () => {
        const state = await network();
        expect(state.cursor).toBe(state.head);
        expect(state.cursor).toBeGreaterThanOrEqual(blockNumber + 70);
        return state;
      }, patience);
      await chain.reorganise(cursor - blockNumber + 1);
    });
    await eventually(async () => expect((await network()).halted_at).not.toBeNull(), patience);
    const incidents = await withDatabase(stack.file.postgres_url, async (db) => {
      const { rows } = await db.query<{ kind: string }>('select kind from chain.incident where resolved_at is null');
      return rows;
    });
    expect(incidents).toEqual([{ kind: 'fork_below_finalized' }]);
    // The chain continues, but nothing new from it is trusted, and nothing reported before is taken back.
    const { cursor } = await network();
    const { body: next } = await shop.create('47.4');
    await shop.pay('47.4');
    await chain.mine(5);
    expect(await shop.details(payment.payment_id)).toEqual({ ...paid, transaction: expect.anything() });
    expect((await shop.details(next.payment_id)).status).toBe('PENDING');
    expect((await network()).cursor).toBe(cursor);
    expect(await shop.webhooks()).toHaveLength(1);
  });
});
