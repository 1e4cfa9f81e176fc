import { setTimeout as delay } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { NoticeRaised } from '@quittance/contracts/messages.ts';
import { type NoticeType, webhookChoices } from '@quittance/contracts/webhook.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import type { ServiceProcess } from '@quittance/testkit/service-process.ts';
import { status, type Answer } from '../receiver.ts';
import type { Merchant } from '../world.ts';
import { findOvertakenAttempts } from './invariants.ts';
import { openSite, type Site } from './site.ts';
import { createGate, reset, shareOf, type Visit } from './visits.ts';

// The test waits for the leases of killed dispatchers; nothing here passes or fails by time.
jest.setTimeout(3_600_000);

const SEED = 20_261_126;
const MERCHANTS = 8;
const { payments: PAYMENTS, kills: KILLS } = amountOf({
  short: { payments: 240, kills: 3 },
  long: { payments: 1_500, kills: 8 },
});

test('no receiver gets a notice of a payment after its PAID event, even if dispatchers are killed at any time', async () => {
  const seed = seedOf(SEED);
  const site = await openSite({ retryDelaysSeconds: '0,0,1,1,1,1,1,1' });
  const dispatchers = [site.world.dispatcher(), await site.world.start()];
  try {
    const merchants = await site.merchants(MERCHANTS, mannerOf(seed));
    for (const { merchantId, url } of merchants) {
      await site.world.call('PUT', `/merchants/${merchantId}/webhook`, { url, events: webhookChoices });
    }
    await Promise.all([tellAll(site, merchants, seed), killSome(site, dispatchers, seed)]);
    await site.delivered(merchants, PAYMENTS);
    const notices = await untilNoneWaits(site);

    const found = [...(await site.violations()), ...(await findOvertakenAttempts(site.world.pool)), ...judge(site)];
    expect({ seed, found }).toEqual({ seed, found: [] });
    // A run in which no notice was withdrawn, waited for or sent proves nothing.
    expect(Math.min(notices.superseded, notices.delivered, notices.interrupted)).toBeGreaterThan(0);
  } finally {
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
    await site.world.stop();
  }
});

/** Each payment's messages at about the same time and in any order. */
async function tellAll({ world }: Site, merchants: readonly Merchant[], seed: number): Promise<void> {
  await Promise.all(
    Array.from({ length: PAYMENTS }, async (_, n) => {
      const merchant = merchants[n % merchants.length]!;
      const [paymentId, description] = [newId('pay'), `payment ${n}`];
      const share = (what: string): number => shareOf(seed, description, what);
      const tell = async (what: string, say: () => Promise<unknown>): Promise<void> => {
        await delay(n * 15 + share(what) * 600);
        await say();
      };
      const raise = (type: NoticeType) => tell(type, () => world.publish(NoticeRaised, notice(type)));
      const notice = (type: NoticeType): NoticeRaised => ({
        ...{ merchant_id: merchant.merchantId, event_type: type, payment_id: paymentId, expected_amount: '10.50' },
        ...{ description, transaction_id: null, transaction_event_index: null },
      });
      await Promise.all([
        tell('PAID', () => world.pay(merchant, { payment_id: paymentId, description })),
        raise('payment.checking'),
        raise(share('end') < 0.5 ? 'payment.expired' : 'payment.cancelled'),
      ]);
    }),
  );
}

async function killSome({ world }: Site, dispatchers: ServiceProcess[], seed: number): Promise<void> {
  for (let kill = 0; kill < KILLS; kill += 1) {
    await delay(1_500);
    const victim = Math.floor(shareOf(seed, 'victim of kill', kill) * dispatchers.length);
    await dispatchers[victim]!.kill();
    dispatchers[victim] = await world.restart();
  }
}

/** Most take a moment, so that PAID arrives meanwhile; some refuse, reset or hang, at most three times per event. */
function mannerOf(seed: number): (visit: Visit) => Answer {
  const hanging = createGate();
  return ({ event, nth }) => {
    const share = nth > 3 ? 1 : shareOf(seed, event.description, event.status, nth);
    if (share < 0.1) return status(500);
    if (share < 0.15) return reset;
    if (share < 0.16) return hanging.hold;
    return (...request) => void setTimeout(() => status(200)(...request), share * 400).unref();
  };
}

async function untilNoneWaits({ world }: Site): Promise<Record<'superseded' | 'delivered' | 'interrupted', number>> {
  return eventually(
    async () => {
      const { rows } = await world.pool.query<Record<'pending' | 'superseded' | 'delivered' | 'interrupted', number>>(
        `select count(*) filter (where status = 'pending')::int as pending,
                count(*) filter (where error_category = 'superseded')::int as superseded,
                count(*) filter (where status = 'delivered')::int as delivered, sum(interruptions)::int as interrupted
           from delivery where merchant_id like '%:notices'`,
      );
      if (rows[0]!.pending > 0) throw new Error(`${rows[0]!.pending} notices wait`);
      return rows[0]!;
    },
    { timeoutMs: 180_000, intervalMs: 250 },
  );
}

/** @returns a line for each request about a payment that followed its PAID event. */
function judge({ book }: Site): string[] {
  const paid = new Set<string>();
  return book.all.flatMap(({ event }) => {
    const kind: string = event.status;
    if (kind === 'PAID') paid.add(event.payment_id);
    return kind !== 'PAID' && paid.has(event.payment_id) ? [`${kind} of ${event.payment_id} came after PAID`] : [];
  });
}
