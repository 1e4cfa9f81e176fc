import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readNetworks } from '@quittance/chain-reader/chain/networks.ts';
import { createEndpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import type { LookedUp, LookUpAccount } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { RpcEndpoint } from '@quittance/contracts/networks.ts';
import { createApp } from '@quittance/http/server/app.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf, newWallet } from '@quittance/testkit/chain/samples.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { createLookUps } from '../src/look-ups/look-ups.ts';
import { migrations, schema } from '../src/migrations.ts';
import { lookUpTransactionRoute } from '../src/look-ups/http.ts';
import { INTERNAL_TOKEN } from './watcher.ts';

const LIMIT = 4;

let chain: TestChain;
let database: TestDatabase;
let pool: Pool;
/** Two nodes of the chain, and one of another chain, which does not have its transactions. */
let nodes: { first: MisbehavingNode; second: MisbehavingNode; other: MisbehavingNode };
const opened: (() => void)[] = [];

beforeAll(async () => {
  [chain, database] = await Promise.all([testChain(), testDatabase({ schema, migrations })]);
  pool = testPool({ url: database.url, schema, max: 3 });
  const [first, second, other] = await Promise.all([chain, chain, chain].map(misbehavingNode));
  nodes = { first: first!, second: second!, other: other! };
});
afterAll(async () => {
  await Promise.all(Object.values(nodes).map((node) => node.close()));
  await pool.end();
  await Promise.all([chain.close(), database.drop()]);
});
afterEach(() => {
  for (const node of Object.values(nodes)) {
    node.replaceAll(null);
    node.spoil(null);
  }
  for (const close of opened.splice(0)) close();
});

const about = ({ method }: { method: string }) => method.startsWith('eth_getTransaction');
const forgets = (node: MisbehavingNode) => node.spoil((call) => (about(call) ? { result: null } : undefined));
const questionsTo = (node: MisbehavingNode) => node.calls().filter(about).length;

/** A replica that watches both networks. */
function replica({ plan = {}, limit = LIMIT }: { plan?: Partial<RpcEndpoint>; limit?: number } = {}) {
  forgets(nodes.other);
  const metrics = createMetrics({ service: 'chain-watcher', processMetrics: false });
  const entries = [
    ...networksOf({ chain, entry: { rpc_urls: [{ ...plan, url: nodes.first.url }, nodes.second.url] } }),
    ...networksOf({ chain, rpcUrls: [nodes.other.url], entry: { id: 'other', name: 'Other', default_evm: false } }),
  ];
  const networks = readNetworks(entries, {}).map((network) => {
    const endpoints = createEndpoints({ network, timeoutMs: 2_000, logger: testLogger, metrics });
    opened.push(() => endpoints.close());
    return { network, endpoints };
  });
  const lookUps = createLookUps({ networks, logger: testLogger });
  const routes = [lookUpTransactionRoute({ pool, lookUps, limitPerHour: limit, metrics })];
  const common = { name: 'chain-watcher', logger: testLogger, metrics, trust: sharedTrust(INTERNAL_TOKEN) };
  const server = createServer(createApp({ ...common, routes, ready: () => Promise.resolve() }));
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoints: networks[0]!.endpoints,
    async lookUp(hash: string, { first, account }: { first?: string; account?: LookUpAccount } = {}) {
      await listening;
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/internal/v1/transactions/look-up`;
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'application/json' },
        body: JSON.stringify({ transaction_id: hash.slice(2), first, account }),
      });
      return (await answer.json()) as LookedUp;
    },
  };
}

const unknownHash = (): string => `0x${randomBytes(32).toString('hex')}`;
const noAnswer: LookedUp = { outcome: 'not_read_yet', reason: 'no_answer' };
const overBudget: LookedUp = { outcome: 'not_read_yet', reason: 'budget' };

describe('a transaction that is looked up', () => {
  test('shows its transfers of the token, and other recipients', async () => {
    const [one, other] = [newWallet(), newWallet()];
    const hash = await chain.transferBatch([
      { to: one, units: 5n },
      { to: other, units: 7n },
    ]);
    const at = replica();
    expect(await at.lookUp(hash, { first: 'local' })).toEqual({
      outcome: 'mined',
      network: 'local',
      block_number: Number(await chain.rpc<string>('eth_blockNumber')),
      block_timestamp: expect.stringMatching(/Z$/),
      is_scanned: false,
      is_final: false,
      transfers: [one, other].map((to, position) => ({
        ...{ transaction_event_index: position, from: chain.payer, to, decimals: 6 },
        amount_units: ['5', '7'][position],
      })),
      other_recipients: [],
    });
    // The likeliest network had it: the other one was not asked.
    expect(questionsTo(nodes.other)).toBe(0);
  });

  test('that moves the chain’s own coin, or another token, names the recipient', async () => {
    const wallet = newWallet();
    const coin = { from: chain.payer, to: wallet, value: '0x1' };
    const hash = await chain.rpc<string>('eth_sendTransaction', [coin]);
    const token = await chain.transfer(newWallet(), 5n);
    // A look-alike: the same events of another contract.
    const alike = (call: { method: string }, { result }: { result?: unknown }) => {
      const receipt = result as { logs: object[] } | null;
      return call.method === 'eth_getTransactionReceipt' && receipt?.logs[0]
        ? { result: { ...receipt, logs: [{ ...receipt.logs[0], address: `0x${'ab'.repeat(20)}` }] } }
        : undefined;
    };
    const at = replica();
    expect(await at.lookUp(hash)).toMatchObject({ outcome: 'mined', transfers: [], other_recipients: [wallet] });
    nodes.first.spoil(alike);
    expect(await at.lookUp(token, { first: 'local' })).toMatchObject({
      transfers: [],
      other_recipients: [expect.any(String)],
    });
  });

  test('is pending while it is in no block, and failed when it moved nothing', async () => {
    const hash = await chain.transfer(newWallet(), 5n);
    nodes.first.spoil((call) => (call.method === 'eth_getTransactionReceipt' ? { result: null } : undefined));
    expect(await replica().lookUp(hash, { first: 'local' })).toEqual({ outcome: 'pending', network: 'local' });
    nodes.first.spoil((call, { result }) =>
      call.method === 'eth_getTransactionReceipt' ? { result: { ...(result as object), status: '0x0' } } : undefined,
    );
    expect(await replica().lookUp(hash, { first: 'local' })).toMatchObject({ outcome: 'failed', network: 'local' });
  });

  test('is found by a later node when the first one does not know it', async () => {
    const hash = await chain.transfer(newWallet(), 5n);
    forgets(nodes.first);
    expect(await replica().lookUp(hash)).toMatchObject({ outcome: 'mined', network: 'local' });
  });

  test('is unknown only when every network has answered', async () => {
    expect(await replica().lookUp(unknownHash())).toEqual({ outcome: 'unknown' });
    nodes.other.replaceAll('drop');
    const [missing, there] = [unknownHash(), await chain.transfer(newWallet(), 5n)];
    const at = replica();
    expect(await at.lookUp(missing)).toEqual(noAnswer);
    expect(await at.lookUp(there)).toMatchObject({ outcome: 'mined' });
  });

  test.each<[string, () => void]>([
    ['that answers nonsense', () => nodes.other.spoil((call) => (about(call) ? { result: 'yes' } : undefined))],
    [
      'that answers about another transaction',
      () => nodes.other.spoil((call) => (about(call) ? { result: { hash: unknownHash(), value: '0x0' } } : undefined)),
    ],
    ['that refuses', () => nodes.other.replaceAll({ status: 429, body: 'slow down' })],
  ])('is not unknown because of a node %s', async (_, misbehave) => {
    const at = replica();
    misbehave();
    expect(await at.lookUp(unknownHash())).toEqual(noAnswer);
  });
});

describe('the cost of look-ups', () => {
  test('a question that is repeated, or asked by many at once, asks the nodes once, even about an unknown transaction', async () => {
    const at = replica();
    const [hash, missing] = [await chain.transfer(newWallet(), 5n), unknownHash()];
    await at.lookUp(missing);
    await at.lookUp(hash, { first: 'local' });
    const asked = questionsTo(nodes.first);
    const answers = await Promise.all([hash, missing].flatMap((one) => [at.lookUp(one), at.lookUp(one)]));
    expect(answers.map(({ outcome }) => outcome)).toEqual(['mined', 'mined', 'unknown', 'unknown']);
    expect(questionsTo(nodes.first)).toBe(asked);
  });

  test('a merchant has an hourly limit over all replicas, its customers half of it, and operators none', async () => {
    const [one, two] = [replica(), replica()];
    const merchantId = newId('mer');
    const customer: LookUpAccount = { merchant_id: merchantId, by: 'customer' };
    const merchant: LookUpAccount = { merchant_id: merchantId, by: 'merchant' };
    const outcomes = async (account: LookUpAccount, times: number) => {
      const found: LookedUp[] = [];
      for (let time = 0; time < times; time += 1)
        found.push(await [one, two][time % 2]!.lookUp(unknownHash(), { account }));
      return found.map((answer) => JSON.stringify(answer) === JSON.stringify(overBudget));
    };
    expect(await outcomes(customer, 3)).toEqual([false, false, true]);
    expect(await outcomes(merchant, 3)).toEqual([false, false, true]);
    expect(await one.lookUp(unknownHash())).toEqual({ outcome: 'unknown' });
    expect(await one.lookUp(unknownHash(), { account: { ...merchant, merchant_id: newId('mer') } })).toEqual({
      outcome: 'unknown',
    });
    await pool.query(`update look_up_window set started_at = started_at - interval '1 hour'`);
    expect(await outcomes(customer, 1)).toEqual([false]);
  });

  test('a link’s first questions are asked even if a stranger used up the budgets of many links and addresses', async () => {
    const at = replica();
    const merchantId = newId('mer');
    const hex = () => randomBytes(32).toString('hex');
    const asked = async (link: string, client: string) => {
      const account = { merchant_id: merchantId, by: 'customer' as const, link, client };
      return (await at.lookUp(unknownHash(), { account })).outcome === 'unknown';
    };
    const times = async (count: number, ask: () => Promise<boolean>) => {
      let held = 0;
      for (let time = 0; time < count; time += 1) held += (await ask()) ? 1 : 0;
      return held;
    };
    const strangers = Array.from({ length: 4 }, () => ({ link: hex(), client: hex() }));
    // Three questions of each link, and two that the merchant's customers share.
    const sums = await Promise.all(strangers.map(({ link, client }) => times(5, () => asked(link, client))));
    expect(sums.reduce((sum, count) => sum + count, 0)).toBe(4 * 3 + LIMIT / 2);
    // One address has thirty an hour over all links, which is less than the merchant's orders could ask.
    expect(await times(40, () => asked(hex(), strangers[0]!.client))).toBe(25);
    // A customer of the same merchant, and of the same link three times.
    const customer = { link: hex(), client: hex() };
    expect(await times(4, () => asked(customer.link, customer.client))).toBe(3);
    // An hour later the address may ask again, but this is not the link's first question.
    await pool.query(`update customer_look_up set ends_at = ends_at - interval '1 hour'`);
    expect(await asked(hex(), strangers[0]!.client)).toBe(true);
    expect(await asked(strangers[0]!.link, strangers[0]!.client)).toBe(false);
    const { rows } = await pool.query<{ left: string }>(
      `select count(*)::text as left from customer_look_up where ends_at <= now()`,
    );
    expect(Number(rows[0]!.left)).toBeLessThan(4);
  });

  test('when look-ups are turned off, first questions are, too', async () => {
    const account = { merchant_id: newId('mer'), by: 'customer' as const, link: 'a'.repeat(64) };
    expect(await replica({ limit: 0 }).lookUp(unknownHash(), { account })).toEqual(overBudget);
  });

  test('customers’ repeated questions leave half of a provider’s day for first questions', async () => {
    const at = replica({ plan: { requests_per_day: 800 }, limit: 1_000 });
    nodes.second.replaceAll('drop');
    const account = { merchant_id: newId('mer'), by: 'customer' as const, link: 'b'.repeat(64) };
    const answers: LookedUp[] = [];
    for (let time = 0; time < 8; time += 1) answers.push(await at.lookUp(unknownHash(), { first: 'local', account }));
    expect(answers.at(-1)).toEqual(noAnswer);
    const share = () => at.endpoints.dailyBudgets()[1]!.dailyBudget.usedShare();
    expect(share()).toBeLessThan(1);
    const first = { ...account, link: 'c'.repeat(64) };
    expect(await at.lookUp(unknownHash(), { first: 'local', account: first })).toEqual({ outcome: 'unknown' });
  });

  test('look-ups use a hundredth of a provider’s day; after that, it is not asked', async () => {
    const at = replica({ plan: { requests_per_day: 400 }, limit: 1_000 });
    const before = questionsTo(nodes.first);
    forgets(nodes.second);
    const hash = await chain.transfer(newWallet(), 5n);
    for (let time = 0; time < 4; time += 1) await at.lookUp(unknownHash(), { first: 'local' });
    const asked = questionsTo(nodes.first);
    expect(asked - before).toBe(4);
    // The other node has no plan, and still answers.
    expect(await at.lookUp(hash)).toEqual({ outcome: 'unknown' });
    expect(questionsTo(nodes.first)).toBe(asked);
    const [all, part] = at.endpoints.dailyBudgets();
    expect([all!.purpose, part!.purpose]).toEqual(['all', 'look-ups']);
    expect(part!.dailyBudget.usedShare()).toBeGreaterThanOrEqual(1);
    expect(all!.dailyBudget.usedShare()).toBeLessThan(0.05);
  });

  test('a node that fails only look-ups stays in use for the scan', async () => {
    const at = replica({ limit: 1_000 });
    nodes.first.spoil((call) => (about(call) ? { result: 'nonsense' } : undefined));
    for (let time = 0; time < 8; time += 1) await at.lookUp(unknownHash(), { first: 'local' });
    expect(at.endpoints.states()[0]).toMatchObject({ state: 'closed' });
    expect(await at.endpoints.ask((rpc) => rpc.send('eth_blockNumber', []))).toMatch(/^0x/);
  });

  test('a network that hangs makes only a few look-ups wait, and others are answered', async () => {
    const at = replica({ limit: 1_000 });
    nodes.other.replaceAll(null);
    nodes.other.refuse(() => 'stall');
    const waiting = Array.from({ length: 12 }, () => at.lookUp(unknownHash(), { first: 'other' }));
    // The ones after that are answered without the busy network.
    await eventually(async () => expect(await Promise.race(waiting)).toEqual(noAnswer));
    await eventually(async () => {
      const hash = await chain.transfer(newWallet(), 5n);
      expect(await at.lookUp(hash, { first: 'other' })).toMatchObject({ outcome: 'mined', network: 'local' });
    });
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => noAnswer));
    nodes.other.refuse(null);
  });
});
