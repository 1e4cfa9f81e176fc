import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TipsResponse } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { startWorld, untilReceived, untilScanned, untilWatched, type World } from './world.ts';
import type { RunningWatcher } from './watcher.ts';

let world: World;
let watcher: RunningWatcher;

beforeAll(async () => {
  world = await startWorld();
  watcher = world.watch({ confirmations: 3, entry: { receipts: 'proven' } });
});
afterAll(() => world.close());

describe('a transfer to a watched wallet', () => {
  test('is seen in its block and confirmed once it is deep enough, each once', async () => {
    const wallet = newWallet();
    const payment = await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    const hash = await world.chain.transfer(wallet, 10_500_000n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    const block = await world.chain.rpc<{ hash: string; timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
    expect(seen).toEqual({
      merchant_id: payment.merchant_id,
      network: 'local',
      transaction_id: hash.slice(2),
      transaction_event_index: 0,
      block_number: seen!.block_number,
      block_hash: block.hash,
      block_timestamp: new Date(Number(block.timestamp) * 1000).toISOString(),
      from: world.chain.payer,
      to: wallet,
      amount_units: '10500000',
      decimals: 6,
      phase: 'seen',
      version: 1,
      confirmations: 1,
      confirmations_required: 3,
      first_seen_at: expect.any(String),
      live: true,
    });

    await world.chain.mine(1);
    await untilScanned(world);
    await untilReceived(world, wallet, ['seen']);
    await world.chain.mine(1);
    const [, confirmed] = await untilReceived(world, wallet, ['seen', 'confirmed']);
    expect(confirmed).toEqual({ ...seen, phase: 'confirmed', version: 2, confirmations: 3 });
  });

  test('in the middle of a transaction has a position that counts every log of the receipt', async () => {
    const [other, wallet] = [newWallet(), newWallet()];
    await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transferBatch([
      { to: other, units: 1n },
      { to: other, units: 2n },
      { to: wallet, units: 3n },
      { to: other, units: 4n },
      { to: wallet, units: 5n },
    ]);
    await world.chain.mine(2);
    await eventually(() => {
      const mine = world.received.filter(({ to, phase }) => to === wallet && phase === 'confirmed');
      expect(mine.map((m) => [m.transaction_event_index, m.amount_units]).sort()).toEqual([
        [2, '3'],
        [4, '5'],
      ]);
    });
    expect(world.received.some(({ to }) => to === other)).toBe(false);
  });

  test('carries the amount that arrived when the token takes a fee', async () => {
    const wallet = newWallet();
    await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.setFee(100);
    await world.chain.transfer(wallet, 10_000_000n);
    await world.chain.setFee(0);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    expect(seen).toMatchObject({ amount_units: '9900000', transaction_event_index: 1 });
  });
});

describe('a watch that comes late', () => {
  test('finds the transfer that was mined before it, however many blocks passed', async () => {
    const wallet = newWallet();
    const createdAt = new Date();
    await world.chain.transfer(wallet, 7n);
    await world.chain.mine(300);
    await untilScanned(world);
    await world.publishPaymentCreated({ recipient: wallet, created_at: createdAt.toISOString() });
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    await untilWatched(world, wallet);
  });

  test('does not reach back further than a payment created after the block may need', async () => {
    const wallet = newWallet();
    await world.chain.transfer(wallet, 7n);
    await untilScanned(world);
    const later = new Date(Date.now() + 3_600_000).toISOString();
    await world.publishPaymentCreated({ recipient: wallet, created_at: later });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 8n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    expect(seen!.amount_units).toBe('8');
  });
});

describe('questions from payments', () => {
  type Answer = { scanned_through: string | null; transfers: { amount_units: string; phase: string }[] };
  const ask = async (windows: unknown) =>
    (await watcher.call('POST', '/internal/v1/transfers/in-windows', { network: 'local', windows })).body as Answer;

  test('transfers inside a window are returned, with the time up to which the chain is final', async () => {
    const wallet = newWallet();
    const { created_at: from } = await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 42n);
    const [seen] = await untilReceived(world, wallet, ['seen']);
    const to = new Date(Date.now() + 60_000).toISOString();
    const window = { recipient: wallet, from, to };
    // Either clock may be ahead.
    const [madeFrom] = [seen!.block_timestamp, seen!.first_seen_at!].toSorted();

    expect((await ask([window])).transfers).toMatchObject([{ amount_units: '42', phase: 'seen' }]);
    expect((await ask([{ ...window, from: madeFrom, to: madeFrom }])).transfers).toEqual([]);
    expect((await ask([{ ...window, amount: '0.000042' }])).transfers).toMatchObject([{ amount_units: '42' }]);
    expect((await ask([{ ...window, amount: '0.000041' }])).transfers).toEqual([]);

    // The chain's clock is moved beyond the window's end.
    await world.chain.rpc('evm_increaseTime', [120]);
    await world.chain.mine(5);
    await untilScanned(world);
    const { scanned_through: throughout } = await ask([]);
    expect(Date.parse(throughout!)).toBeGreaterThan(Date.parse(to));
    const later = await ask([window]);
    expect(Date.parse(later.scanned_through!)).toBeGreaterThan(Date.parse(to));
    expect(later.transfers).toMatchObject([{ amount_units: '42', phase: 'confirmed' }]);
  });

  test('nothing is claimed about a wallet that is not watched, or an unknown network', async () => {
    const window = { recipient: newWallet(), from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T00:30:00.000Z' };
    expect(await ask([window])).toEqual({ scanned_through: null, transfers: [] });
    const unknown = await watcher.call('POST', '/internal/v1/transfers/in-windows', {
      network: 'nowhere',
      windows: [window],
    });
    expect(unknown).toEqual({ status: 200, body: { scanned_through: null, transfers: [] } });
  });

  test.each([
    [{ network: 'local' }, 'windows'],
    [{ network: 'local', windows: {} }, 'windows'],
    [{ network: 'local', windows: [{ recipient: 'x', from: '', to: '' }] }, 'windows[0].recipient'],
    [
      { network: 'local', windows: [{ recipient: `0x${'1'.repeat(40)}`, from: 'yesterday', to: '' }] },
      'windows[0].from',
    ],
    [{ windows: [{}] }, 'network', 'windows[0].recipient', 'windows[0].from', 'windows[0].to'],
  ])('a malformed question %j is refused and named', async (json, ...fields) => {
    const { status, body } = await watcher.call('POST', '/internal/v1/transfers/in-windows', json);
    expect(status).toBe(422);
    expect(body).toMatchObject({ detail: fields.map((field) => ({ field })) });
  });

  test('the state of each scan can be read', async () => {
    await untilScanned(world);
    const head = Number(await world.chain.rpc<string>('eth_blockNumber'));
    const { body } = await watcher.call('GET', '/internal/v1/chains');
    expect(body).toMatchObject([
      {
        network: 'local',
        head,
        cursor: head,
        lag_blocks: 0,
        halted_at: null,
        endpoints: [{ endpoint: 0, state: 'closed' }],
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(world.chain.rpcUrl);
  });

  test('the last scanned block is returned separately, and moves with every block', async () => {
    const tips = async () => (await watcher.call('GET', '/internal/v1/tips')).body;
    await untilScanned(world);
    const head = Number(await world.chain.rpc<string>('eth_blockNumber'));
    expect(await tips()).toMatchObject({ tips: [{ network: 'local', height: head }] });
    await world.chain.mine(2);
    await untilScanned(world);
    const [tip] = ((await tips()) as TipsResponse).tips;
    expect(tip).toMatchObject({ network: 'local', height: head + 2 });
    expect(tip!.final_height).toBeLessThan(head + 2);
    expect(tip!.large_final_height).toBeLessThanOrEqual(tip!.final_height!);
  });
});

describe('the end of a watch', () => {
  test('comes only when the chain has passed the grace period, and a new payment watches again', async () => {
    const wallet = newWallet();
    const expired = { created_at: '2020-01-01T00:00:00.000Z', expires_at: '2020-01-01T00:30:00.000Z' };
    await world.publishPaymentCreated({ recipient: wallet, ...expired });
    const address = Buffer.from(wallet.slice(2), 'hex');
    const stateOf = async () =>
      (await world.pool.query<{ state: string }>('select state from watch where address = $1', [address])).rows[0]
        ?.state;
    await eventually(async () => expect(await stateOf()).toBe('ended'));

    await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    await world.chain.transfer(wallet, 9n);
    await untilReceived(world, wallet, ['seen']);
  });

  test('is delayed by a payment that closed later', async () => {
    const wallet = newWallet();
    const payment = await world.publishPaymentCreated({ recipient: wallet });
    await untilWatched(world, wallet);
    const closedAt = new Date(Date.now() + 10 * 86_400_000);
    await world.publishPaymentClosed(payment, closedAt);
    await eventually(async () => {
      const { rows } = await world.pool.query<{ watched_until: Date }>(
        'select watched_until from watch where address = $1',
        [Buffer.from(wallet.slice(2), 'hex')],
      );
      expect(rows[0]?.watched_until).toEqual(new Date(closedAt.getTime() + 86_400_000));
    });
  });
});
