import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { PaymentCreated } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';

let world: World;
let node: MisbehavingNode;
let watchers: RunningWatcher[];

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  node = await misbehavingNode(world.chain);
  watchers = [];
  await world.pool.query('delete from unfinished_payment');
});
afterEach(async () => {
  for (const watcher of watchers) await watcher.close();
  await node.close();
});

/** A replica that waits a full minute between two looks at a network that is asleep. */
function watch(): RunningWatcher {
  const watcher = world.watch({ rpcUrls: [node.url], entry: { asleep_poll_interval_ms: 60_000 } });
  watchers.push(watcher);
  return watcher;
}

type Shown = { asleep: boolean; leader: boolean };
const shownBy = async (watcher: RunningWatcher): Promise<Shown> =>
  ((await watcher.call('GET', '/internal/v1/chains')).body as [Shown])[0];
const looks = () => node.calls().filter(({ params }) => params[0] === 'latest').length;

/** Waits until the present head is scanned, and there was no look for many times the pause between two looks. */
async function untilAsleep(watcher: RunningWatcher): Promise<void> {
  await eventually(async () => expect((await shownBy(watcher)).asleep).toBe(true));
  await untilScanned(world);
  let [before, quietRounds] = [looks(), 0];
  await eventually(() => {
    quietRounds = looks() === before ? quietRounds + 1 : 0;
    before = looks();
    expect(quietRounds).toBeGreaterThan(20);
  });
}

/** Makes the payment's end this long ago. */
const closedAgo = ({ payment_id }: PaymentCreated, minutes: number) =>
  eventually(async () => {
    const { rowCount } = await world.pool.query(
      `update unfinished_payment set closed_at = now() - make_interval(mins => $2) where payment_id = $1 and closed_at is not null`,
      [payment_id, minutes],
    );
    expect(rowCount).toBe(1);
  });

describe('a network on which no payment waits', () => {
  test('is rarely polled, reports that, and wakes up immediately for a payment', async () => {
    const watcher = watch();
    await untilAsleep(watcher);
    await world.chain.mine(3);
    const wallet = newWallet();
    const payment = await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    expect((await shownBy(watcher)).asleep).toBe(false);
    await untilScanned(world);
    await world.chain.transfer(wallet, 5n);
    await untilReceived(world, wallet, ['seen']);

    // It stays awake while its transfer is not confirmed, and for a while after its end.
    await world.publishPaymentClosed(payment, new Date());
    await closedAgo(payment, 20);
    expect((await shownBy(watcher)).asleep).toBe(false);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await closedAgo(payment, 14);
    expect((await shownBy(watcher)).asleep).toBe(false);
    await closedAgo(payment, 16);
    await untilAsleep(watcher);
  });

  test('wakes up immediately for a payment whose message another replica receives, on a wallet that is already watched', async () => {
    const wallet = newWallet();
    const earlier = await world.publishPaymentCreated({ recipient: wallet });
    const watcher = watch();
    await untilWatched(world, wallet);
    await world.publishPaymentClosed(earlier, new Date());
    await closedAgo(earlier, 16);
    await untilAsleep(watcher);
    // What the other replica's handler does.
    await world.pool.query(
      `insert into unfinished_payment (payment_id, network, created_at) values ('pay_of_another', 'local', now())`,
    );
    await world.chain.transfer(wallet, 7n);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });

  test('reads nothing live when it wakes up: money that came while it was asleep may have come at any time', async () => {
    const wallet = newWallet();
    const earlier = await world.publishPaymentCreated({ recipient: wallet });
    const watcher = watch();
    await untilWatched(world, wallet);
    await world.publishPaymentClosed(earlier, new Date());
    await closedAgo(earlier, 16);
    await untilAsleep(watcher);
    await world.chain.transfer(wallet, 8n);
    // More than 15 s after the last look.
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 20_000);
    try {
      await world.publishPaymentCreated({ recipient: wallet });
      expect(await untilReceived(world, wallet, ['seen'])).toMatchObject([{ live: false }]);
      await world.chain.mine(2);
      await untilReceived(world, wallet, ['seen', 'confirmed']);
      const other = newWallet();
      await world.publishPaymentCreated({ recipient: other });
      await untilWatched(world, other);
      await world.chain.transfer(other, 9n);
      expect(await untilReceived(world, other, ['seen'])).toMatchObject([{ live: true }]);
      // An unconfirmed one would keep the network awake.
      await world.chain.mine(2);
      await untilReceived(world, other, ['seen', 'confirmed']);
    } finally {
      clock.mockRestore();
    }
  });

  test('shows late transfers: a new leader reads every block before it sleeps', async () => {
    const wallet = newWallet();
    const payment = await world.publishPaymentCreated({ recipient: wallet });
    const first = watch();
    await untilWatched(world, wallet);
    await world.publishPaymentClosed(payment, new Date());
    await closedAgo(payment, 16);
    await untilAsleep(first);
    await first.close();
    await world.chain.transfer(wallet, 9n);
    await world.chain.mine(40);
    watch();
    await untilReceived(world, wallet, ['seen', 'confirmed']);
  });
});

test('a payment whose end message comes before its creation message keeps no network awake', async () => {
  const watcher = watch();
  const wallet = newWallet();
  const payment = await world.publishPaymentCreated({ recipient: wallet });
  await untilWatched(world, wallet);
  await world.publishPaymentClosed(payment, new Date());
  await closedAgo(payment, 16);
  await world.publishPaymentCreated(payment);
  await untilAsleep(watcher);
});
