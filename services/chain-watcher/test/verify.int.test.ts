import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import {
  misbehavingNode,
  type Answer,
  type Call,
  type MisbehavingNode,
} from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, untilScanned, type World } from './world.ts';

type Block = { number: string; hash: string; timestamp: string };
type Receipt = { status: string; logs: Record<string, unknown>[] };

/** As many as the replica under test requires. */
const CONFIRMATIONS = 3;

let world: World;
let node: MisbehavingNode;
let watcher: RunningWatcher;

beforeAll(async () => {
  world = await startWorld();
  node = await misbehavingNode(world.chain);
  watcher = world.watch({ rpcUrls: [node.url], confirmations: CONFIRMATIONS });
  await untilScanned(world);
});
afterAll(async () => {
  await world.close();
  await node.close();
});
afterEach(() => {
  node.spoil(null);
  node.replaceAll(null);
  node.lag(0);
});

/** Asks about a transaction's transfer at `position`, by default the first one. The hash is as nodes write it. */
const verify = (hash: string, { position = 0, network = 'local', at = watcher } = {}) =>
  at.call('POST', '/internal/v1/transfers/verify', {
    network,
    transaction_id: hash.slice(2),
    transaction_event_index: position,
  });

/** A transfer to a wallet that is not watched, so nothing about it is ever stored. */
async function finalTransfer(units = 5n): Promise<string> {
  const hash = await world.chain.transfer(newWallet(), units);
  await world.chain.mine(CONFIRMATIONS - 1);
  return hash;
}

const onReceipt = (change: (receipt: Receipt) => unknown) => (call: Call, answer: Answer) =>
  call.method === 'eth_getTransactionReceipt' && answer.result
    ? { result: change(answer.result as Receipt) }
    : undefined;

const unavailable = { status: 503, body: { detail: 'Service temporarily unavailable', code: 'unavailable' } };
const absent = (reason: string) => ({ status: 200, body: { finding: 'absent', reason } });

describe('a verified transfer', () => {
  test('is described as in the chain, even if its wallet is not watched', async () => {
    const [wallet, other] = [newWallet(), newWallet()];
    const hash = await world.chain.transferBatch([
      { to: other, units: 1n },
      { to: wallet, units: 9_500_000n },
    ]);
    const block = await world.chain.rpc<Block>('eth_getBlockByNumber', ['latest', false]);
    await world.chain.mine(CONFIRMATIONS - 1);
    expect(await verify(hash, { position: 1 })).toEqual({
      status: 200,
      body: {
        finding: 'present',
        is_final: true,
        block_number: Number(block.number),
        block_hash: block.hash,
        block_timestamp: new Date(Number(block.timestamp) * 1000).toISOString(),
        from: world.chain.payer,
        to: wallet,
        amount_units: '9500000',
        decimals: 6,
        confirmations: CONFIRMATIONS,
        confirmations_required: CONFIRMATIONS,
      },
    });
    // The other position has the other transfer, and there is no third one.
    expect((await verify(hash)).body).toMatchObject({ to: other, amount_units: '1' });
    expect(await verify(hash, { position: 2 })).toEqual(absent('no_event'));
    const { rows } = await world.pool.query('select from transfer');
    expect(rows).toEqual([]);
  });

  test('is final only once it is as deep as the network requires', async () => {
    const hash = await world.chain.transfer(newWallet(), 5n);
    for (let confirmations = 1; confirmations < CONFIRMATIONS; confirmations += 1) {
      expect((await verify(hash)).body).toMatchObject({ finding: 'present', is_final: false, confirmations });
      await world.chain.mine(1);
    }
    expect((await verify(hash)).body).toMatchObject({ is_final: true, confirmations: CONFIRMATIONS });
  });

  test('waits for the chain itself to call its block final if the network requires that', async () => {
    const strict = await startWorld();
    try {
      const at = strict.watch({ finality: 'finalized', confirmations: 2 });
      const hash = await strict.chain.transfer(newWallet(), 5n);
      await strict.chain.mine(40);
      expect((await verify(hash, { at })).body).toMatchObject({ is_final: false, confirmations: 41 });
      await strict.chain.mine(24);
      expect((await verify(hash, { at })).body).toMatchObject({ is_final: true, confirmations: 65 });
    } finally {
      await strict.close();
    }
  });

  test('is absent once a reorg has removed it', async () => {
    const hash = await finalTransfer();
    expect((await verify(hash)).body).toMatchObject({ finding: 'present' });
    await world.chain.reorg(CONFIRMATIONS);
    expect(await verify(hash)).toEqual(absent('no_receipt'));
  });

  test("is not final by one node's answer when another node no longer has its block", async () => {
    const at = world.watch({ rpcUrls: [node.url, world.chain.rpcUrl], confirmations: CONFIRMATIONS });
    const hash = await finalTransfer();
    const fork = { blockHash: `0x${'ab'.repeat(32)}` };
    node.spoil(onReceipt((receipt) => ({ ...receipt, ...fork, logs: [{ ...receipt.logs[0], ...fork }] })));
    expect((await verify(hash)).body).toMatchObject({ finding: 'absent', reason: 'orphaned' });
    expect(await verify(hash, { at })).toEqual(unavailable);
    await at.close();
  });

  test('is absent when there never was such a transaction', async () => {
    expect(await verify(`0x${'ab'.repeat(32)}`)).toEqual(absent('no_receipt'));
  });

  test.each([
    [{ transaction_id: `0x${'a'.repeat(62)}` }, 'transaction_id'],
    [{ transaction_id: 'A'.repeat(64) }, 'transaction_id'],
    [{ transaction_event_index: -1 }, 'transaction_event_index'],
    [{ transaction_event_index: '0' }, 'transaction_event_index'],
    [{ transaction_event_index: 2 ** 31 }, 'transaction_event_index'],
    [{ network: 7 }, 'network'],
  ])('%j is refused and named', async (change, field) => {
    const question = { network: 'local', transaction_id: 'a'.repeat(64), transaction_event_index: 0, ...change };
    const answer = await watcher.call('POST', '/internal/v1/transfers/verify', question);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ field }] } });
  });
});

describe('a node', () => {
  const withFirstLog = (change: object) => (receipt: Receipt) => ({
    ...receipt,
    logs: [{ ...receipt.logs[0], ...change }],
  });

  test.each<[string, (receipt: Receipt) => unknown, string]>([
    ['that lacks the receipt', () => null, 'no_receipt'],
    ['that says the transaction failed', (receipt) => ({ ...receipt, status: '0x0' }), 'failed'],
    ['whose receipt has no event', (receipt) => ({ ...receipt, logs: [] }), 'no_event'],
    ['whose event is of another contract', withFirstLog({ address: `0x${'ab'.repeat(20)}` }), 'no_transfer'],
    ['whose event is no Transfer', withFirstLog({ topics: [`0x${'ab'.repeat(32)}`] }), 'no_transfer'],
    ['whose transfer is of nothing', withFirstLog({ data: `0x${'0'.repeat(64)}` }), 'no_transfer'],
    [
      'whose receipt is of a block that its chain does not have',
      (receipt) => ({
        ...receipt,
        blockHash: `0x${'ab'.repeat(32)}`,
        logs: [{ ...receipt.logs[0], blockHash: `0x${'ab'.repeat(32)}` }],
      }),
      'orphaned',
    ],
  ])('%s shows no transfer', async (_, change, reason) => {
    const hash = await finalTransfer();
    node.spoil(onReceipt(change));
    expect(await verify(hash)).toEqual(absent(reason));
    node.spoil(null);
    expect((await verify(hash)).body).toMatchObject({ is_final: true });
  });

  test.each<[string, (receipt: Receipt) => unknown]>([
    ['the receipt of another transaction', (receipt) => ({ ...receipt, transactionHash: `0x${'ab'.repeat(32)}` })],
    ['an event of another transaction', withFirstLog({ transactionHash: `0x${'ab'.repeat(32)}` })],
    ['an event of another block', withFirstLog({ blockHash: `0x${'ab'.repeat(32)}` })],
    ['an event of another height', withFirstLog({ blockNumber: '0x1' })],
    ['an event that was taken back', withFirstLog({ removed: true })],
    ['no status', (receipt) => ({ ...receipt, status: undefined })],
    ['a receipt that is none', () => 'yes'],
  ])('that answers %s is not believed', async (_, change) => {
    const hash = await finalTransfer();
    node.spoil(onReceipt(change));
    expect(await verify(hash)).toEqual(unavailable);
    node.spoil(null);
    await eventually(async () => expect((await verify(hash)).body).toMatchObject({ is_final: true }));
  });

  test('that shows one event twice is not believed about the second', async () => {
    const hash = await finalTransfer();
    node.spoil(onReceipt((receipt) => ({ ...receipt, logs: [receipt.logs[0], receipt.logs[0]] })));
    expect(await verify(hash, { position: 1 })).toEqual(unavailable);
    node.spoil(null);
    await eventually(async () => expect((await verify(hash)).body).toMatchObject({ is_final: true }));
  });

  test('that claims a higher head proves nothing by that: the blocks up to it must be linked', async () => {
    const hash = await world.chain.transfer(newWallet(), 5n);
    const head = Number(await world.chain.rpc<string>('eth_blockNumber'));
    const inventHead = (call: Call) => {
      if (call.method !== 'eth_getBlockByNumber' || call.params[0] === 'finalized') return undefined;
      const asked = call.params[0] === 'latest' ? head + 20 : Number(call.params[0]);
      if (asked <= head) return undefined;
      const invented = `0x${asked.toString(16).padStart(64, '0')}`;
      return { result: { ...template, number: `0x${asked.toString(16)}`, hash: invented, parentHash: invented } };
    };
    const template = await world.chain.rpc<object>('eth_getBlockByNumber', ['latest', false]);
    node.spoil(inventHead);
    expect(await verify(hash)).toEqual(unavailable);
    node.spoil(null);
    await eventually(async () => expect((await verify(hash)).body).toMatchObject({ is_final: false }));
  });

  test.each<[string, () => void]>([
    ['is unreachable', () => node.replaceAll('drop')],
    ['is overloaded', () => node.replaceAll({ status: 429, body: 'slow down' })],
    ['answers HTML', () => node.replaceAll({ status: 200, body: '<html>maintenance</html>' })],
  ])('that %s gives no answer, from which nothing is concluded', async (_, misbehave) => {
    const hash = await finalTransfer();
    misbehave();
    expect(await verify(hash)).toEqual(unavailable);
    node.replaceAll(null);
    await eventually(async () => expect((await verify(hash)).body).toMatchObject({ is_final: true }));
  });
});

describe('ten transfers that are verified at once', () => {
  const finalTransfers = async (confirmations: number): Promise<string[]> => {
    const hashes: string[] = [];
    while (hashes.length < 10) hashes.push(await world.chain.transfer(newWallet(), 5n));
    await world.chain.mine(confirmations);
    return hashes;
  };
  test('are all found with a plan of 15 requests a second, although the proof of each reads twenty blocks', async () => {
    const confirmations = 20;
    const at = world.watch({
      confirmations,
      // With the scan's own requests, the result would depend on chance.
      entry: { rpc_urls: [{ url: node.url, requests_per_second: 15 }], poll_interval_ms: 60_000 },
    });
    const hashes = await finalTransfers(confirmations);
    const answers = await Promise.all(hashes.map((hash) => verify(hash, { at })));
    expect(answers).toEqual(hashes.map(() => expect.objectContaining({ status: 200 })));
    expect(answers.map(({ body }) => body)).toEqual(hashes.map(() => expect.objectContaining({ is_final: true })));
    await at.close();
  });

  test('are found, except the one about which the node contradicts itself', async () => {
    const [strange, ...hashes] = await finalTransfers(CONFIRMATIONS);
    const other = (receipt: Receipt) => ({ ...receipt, transactionHash: `0x${'ab'.repeat(32)}` });
    node.spoil((call, answer) => (call.params[0] === strange ? onReceipt(other)(call, answer) : undefined));
    // One is in progress, so that the others wait for the next reading and share it.
    const first = verify(hashes[0] ?? '');
    const [answer, ...answers] = await Promise.all([strange ?? '', ...hashes].map((hash) => verify(hash)));
    expect(await first).toMatchObject({ status: 200 });
    expect(answer).toEqual(unavailable);
    expect(answers.map(({ body }) => body)).toEqual(hashes.map(() => expect.objectContaining({ is_final: true })));
  });
});

describe('with several nodes', () => {
  test.each<[string, () => void]>([
    [
      'lags so far that it does not know the transaction',
      () => {
        node.lag(CONFIRMATIONS);
        node.spoil(onReceipt(() => null));
      },
    ],
    ['is unreachable', () => node.replaceAll('drop')],
    ['lags and calls the block not final yet', () => node.lag(CONFIRMATIONS - 1)],
  ])('one that %s is followed by the next one', async (_, misbehave) => {
    const at = world.watch({ rpcUrls: [node.url, world.chain.rpcUrl], confirmations: CONFIRMATIONS });
    const hash = await finalTransfer();
    misbehave();
    expect((await verify(hash, { at })).body).toMatchObject({ finding: 'present', is_final: true });
    await at.close();
  });

  test('one that has the height but not the transaction follows another chain: the finding is undecided', async () => {
    const at = world.watch({ rpcUrls: [node.url, world.chain.rpcUrl], confirmations: CONFIRMATIONS });
    const hash = await finalTransfer();
    node.spoil(onReceipt(() => null));
    expect(await verify(hash, { at })).toEqual(unavailable);
    await at.close();
  });

  test('a transfer above the amount for which one node is enough is not final by the answer of one', async () => {
    const at = world.watch({
      ...{ rpcUrls: [node.url, world.chain.rpcUrl], confirmations: CONFIRMATIONS },
      entry: { agreement_above_amount: '0.000004' },
    });
    const hash = await finalTransfer();
    node.replaceAll('drop');
    expect((await verify(hash, { at })).body).toMatchObject({ finding: 'present', is_final: false });
    node.replaceAll(null);
    await eventually(async () => expect((await verify(hash, { at })).body).toMatchObject({ is_final: true }));
    await at.close();
  });

  test('one that shows the transaction as failed decides, regardless of the next one', async () => {
    const at = world.watch({ rpcUrls: [node.url, world.chain.rpcUrl], confirmations: CONFIRMATIONS });
    const hash = await finalTransfer();
    node.spoil(onReceipt((receipt) => ({ ...receipt, status: '0x0' })));
    expect(await verify(hash, { at })).toEqual(absent('failed'));
    await at.close();
  });
});

describe('no finding is given', () => {
  test('for a network that is not enabled here', async () => {
    const hash = await finalTransfer();
    expect(await verify(hash, { network: 'nowhere' })).toEqual({
      status: 200,
      body: { finding: 'undecided', reason: 'network_unknown' },
    });
  });

  test('for a network that waits for an operator because its nodes contradicted what was final', async () => {
    const hash = await finalTransfer();
    await world.pool.query('update cursor set halted_at = now()');
    expect(await verify(hash)).toEqual({ status: 200, body: { finding: 'undecided', reason: 'network_halted' } });
    await world.pool.query('update cursor set halted_at = null');
    expect((await verify(hash)).body).toMatchObject({ is_final: true });
  });
});
