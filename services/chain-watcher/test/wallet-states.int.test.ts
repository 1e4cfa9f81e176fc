import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readNetworks } from '@quittance/chain-reader/chain/networks.ts';
import { createEndpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { networksOf, newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createWalletStates } from '../src/look-ups/wallet-states.ts';
import { startWorld } from './world.ts';

const IS_BLACK_LISTED = '0xe47d6060';
const IS_BLOCKED = '0xfbac3951';
const TEN_MINUTES_MS = 600_000;

let chain: TestChain;
let node: MisbehavingNode;
const opened: (() => void)[] = [];

beforeAll(async () => {
  chain = await testChain();
});
afterAll(() => chain.close());
beforeEach(async () => {
  node = await misbehavingNode(chain);
});
afterEach(async () => {
  for (const close of opened.splice(0)) close();
  await node.close();
});

/** Every question about a wallet, by the function that it calls. */
const asked = (wallet = '') =>
  node
    .calls()
    .filter(({ method }) => method === 'eth_call')
    .map(({ params }) => (params[0] as { data: string }).data)
    .filter((data) => data.includes(wallet.slice(2).toLowerCase()))
    .map((data) => data.slice(0, 10));

function statesOn(url: string) {
  const [network] = readNetworks(networksOf({ chain, rpcUrls: [url] }), {});
  const metrics = createMetrics({ service: 'chain-watcher', processMetrics: false });
  const endpoints = createEndpoints({ network: network!, timeoutMs: 5_000, logger: testLogger, metrics });
  opened.push(endpoints.close);
  let time = 0;
  const states = createWalletStates({ networks: [{ network: network!, endpoints }], logger: testLogger }, () => time);
  return {
    /** Which of these are known to be frozen. */
    of: (...wallets: string[]) =>
      states.blacklisted(
        'local',
        wallets.map((wallet) => wallet.toLowerCase()),
      ),
    elsewhere: (wallet: string) => states.blacklisted('elsewhere', [wallet.toLowerCase()]),
    wait: (ms: number) => void (time += ms),
  };
}

/** A wallet that the token has frozen. */
async function frozenWallet(): Promise<string> {
  const wallet = newWallet();
  await chain.setBlackListed(wallet, true);
  return wallet;
}

describe('a wallet that the issuer has frozen', () => {
  test('is listed once the token has answered, without any caller waiting, and others are not', async () => {
    const [frozen, free] = [await frozenWallet(), newWallet()];
    const states = statesOn(node.url);
    expect(states.of(frozen, free)).toEqual([]);
    await eventually(() => expect(states.of(frozen, free)).toEqual([frozen.toLowerCase()]));
    expect(states.elsewhere(frozen)).toEqual([]);
  });

  test('is looked up once in ten minutes, and no longer listed when it is unfrozen', async () => {
    const wallet = await frozenWallet();
    const states = statesOn(node.url);
    await eventually(() => expect(states.of(wallet)).toHaveLength(1));
    await chain.setBlackListed(wallet, false);
    states.wait(TEN_MINUTES_MS - 1);
    for (let time = 0; time < 20; time += 1) expect(states.of(wallet)).toHaveLength(1);
    expect(asked(wallet)).toEqual([IS_BLACK_LISTED]);
    states.wait(1);
    // The old state is used until there is an answer.
    expect(states.of(wallet)).toHaveLength(1);
    await eventually(() => expect(states.of(wallet)).toEqual([]));
    expect(asked(wallet)).toEqual([IS_BLACK_LISTED, IS_BLACK_LISTED]);
  });

  test('is found in newer contracts, which call it blocked, and these are then asked only that', async () => {
    const wallet = newWallet();
    node.spoil(({ method, params }) => {
      if (method !== 'eth_call') return undefined;
      const { data } = params[0] as { data: string };
      const isKnown = data.startsWith(IS_BLOCKED);
      const [result, error] = isKnown
        ? [`0x${'1'.padStart(64, '0')}`]
        : [undefined, { code: 3, message: 'execution reverted' }];
      return { result, error } as object;
    });
    const states = statesOn(node.url);
    await eventually(() => expect(states.of(wallet)).toHaveLength(1));
    expect(asked(wallet)).toEqual([IS_BLACK_LISTED, IS_BLOCKED]);
    const other = newWallet();
    await eventually(() => expect(states.of(other)).toHaveLength(1));
    expect(asked(other)).toEqual([IS_BLOCKED]);
  });
});

describe('a wallet whose state is unknown is not listed', () => {
  test.each([
    ['reverts', { result: undefined, error: { code: -32000, message: 'REVERT opcode executed' } }],
    ['answers nothing', { result: '0x' }],
    ['answers something else', { result: `0x${'f'.repeat(64)}` }],
  ])('a token that %s has no frozen wallets, and is asked again in ten minutes', async (_, answer) => {
    node.spoil(({ method }) => (method === 'eth_call' ? answer : undefined));
    const states = statesOn(node.url);
    expect(states.of(newWallet())).toEqual([]);
    await eventually(() => expect(asked()).toEqual([IS_BLACK_LISTED, IS_BLOCKED]));
    await eventually(async () => {
      const [before, other] = [asked().length, newWallet()];
      expect(states.of(other)).toEqual([]);
      await chain.rpc('eth_chainId');
      expect(asked()).toHaveLength(before);
    });
    node.spoil(null);
    states.wait(TEN_MINUTES_MS);
    const wallet = await frozenWallet();
    await eventually(() => expect(states.of(wallet)).toHaveLength(1));
  });

  test('a node that fails is asked again about that wallet in ten minutes, and the known state stays', async () => {
    const [known, unknown] = [await frozenWallet(), await frozenWallet()];
    const states = statesOn(node.url);
    await eventually(() => expect(states.of(known)).toHaveLength(1));
    states.wait(TEN_MINUTES_MS);
    node.replaceAll('drop');
    const requests = node.requests();
    expect(states.of(known, unknown)).toEqual([known.toLowerCase()]);
    await eventually(() => expect(node.requests()).toBeGreaterThan(requests));
    node.replaceAll(null);
    expect(states.of(known, unknown)).toEqual([known.toLowerCase()]);
    states.wait(TEN_MINUTES_MS);
    await eventually(() => expect(states.of(known, unknown)).toHaveLength(2));
  });

  test('many wallets cause only a few questions at a time', async () => {
    const states = statesOn(node.url);
    let questions = 0;
    node.refuse((calls) => {
      const about = calls.filter(({ method }) => method === 'eth_call').length;
      questions += about;
      return about > 0 ? 'stall' : undefined;
    });
    const wallets = Array.from({ length: 100 }, newWallet);
    expect(states.of(...wallets)).toEqual([]);
    await eventually(() => expect(questions).toBe(8));
    expect(states.of(...wallets)).toEqual([]);
    await chain.rpc('eth_chainId');
    expect(questions).toBe(8);
  });
});

test('the call answers with the addresses as they were given, and refuses invalid ones', async () => {
  const world = await startWorld();
  try {
    const watcher = world.watch();
    const wallet = newWallet();
    await world.chain.setBlackListed(wallet, true);
    const ask = (body: object) => watcher.call('POST', '/internal/v1/wallets/states', body);
    await eventually(async () =>
      expect(await ask({ network: 'local', addresses: [newWallet(), wallet] })).toEqual({
        status: 200,
        body: { blacklisted: [wallet] },
      }),
    );
    expect(await ask({ network: 'nowhere', addresses: [wallet] })).toEqual({ status: 200, body: { blacklisted: [] } });
    expect(await ask({ network: 'local', addresses: ['x'] })).toMatchObject({
      ...{ status: 422, body: { detail: [{ field: 'addresses[0]' }] } },
    });
    expect(await ask({ network: 'local', addresses: Array.from({ length: 101 }, newWallet) })).toMatchObject({
      status: 422,
    });
  } finally {
    await world.close();
  }
});
