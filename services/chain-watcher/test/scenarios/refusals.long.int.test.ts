import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type Call, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { RunningWatcher } from '../watcher.ts';
import { startWorld, untilReceived, untilScanned, type World } from '../world.ts';
import { untilCaughtUp, watchedWallet } from '../support.ts';

describe('a provider that allows ten blocks at a time', () => {
  const LIMIT = 10;
  let world: World;
  let node: MisbehavingNode;
  let running: RunningWatcher;

  beforeAll(async () => {
    // Nearly all of the chain is final, and is therefore read in ranges.
    world = await startWorld({ slotsInAnEpoch: 1 });
    node = await misbehavingNode(world.chain);
    running = world.watch({ rpcUrls: [node.url] });
    await untilScanned(world);
  });
  afterAll(async () => {
    await world.close();
    await node.close();
  });
  afterEach(() => {
    node.spoil(null);
    node.refuse(null);
  });

  /** A scan that was far behind gets to the head and finds every transfer, and so does a late watch. */
  async function expectEverythingFound(refuse: () => void): Promise<void> {
    const [first, last, late] = [await watchedWallet(world), await watchedWallet(world), newWallet()];
    await untilScanned(world);
    await running.close();
    const createdAt = new Date().toISOString();
    await world.chain.transfer(first, 5n);
    await world.chain.transfer(late, 6n);
    await world.chain.mine(35);
    await world.chain.transfer(last, 7n);
    await world.chain.mine(15);
    refuse();
    running = world.watch({ rpcUrls: [node.url] });
    await untilReceived(world, first, ['seen', 'confirmed']);
    await untilReceived(world, last, ['seen', 'confirmed']);
    await untilCaughtUp(world);
    await world.publishPaymentCreated({ recipient: late, created_at: createdAt });
    await untilReceived(world, late, ['seen', 'confirmed']);
  }

  const hex = (number: number) => `0x${number.toString(16)}`;
  type Wording = (from: number, to: number) => { code: number; message: string };

  test.each<[string, Wording]>([
    [
      'with a range in hex that would do',
      (from) => ({
        code: -32005,
        message: `query returned more than 10000 results. Try with this block range [${hex(from)}, ${hex(from + LIMIT - 1)}].`,
      }),
    ],
    [
      'with limits that do not apply and then a range in hex that would do',
      (from) => ({
        code: -32602,
        message:
          'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, ' +
          'or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, ' +
          `this block range should work: [${hex(from)}, ${hex(from + LIMIT - 1)}]`,
      }),
    ],
    [
      'with a range in decimals that would do',
      (from) => ({
        code: -32602,
        message: `query exceeds max results 20000, retry with the range ${from}-${from + LIMIT - 1}`,
      }),
    ],
    [
      'with the number of blocks after a colon',
      () => ({ code: -32701, message: `exceed maximum block range: ${LIMIT}` }),
    ],
    [
      'with the number of blocks in a sentence',
      () => ({ code: -32614, message: `eth_getLogs is limited to a ${LIMIT} range` }),
    ],
    [
      'with the number of blocks that a plan allows',
      () => ({
        code: -32600,
        message: `Under the Free tier plan, you can make eth_getLogs requests with up to a ${LIMIT} block range.`,
      }),
    ],
    [
      'with the number asked for and the number allowed',
      (from, to) => ({
        code: -32000,
        message: `requested too many blocks from ${from} to ${to}, maximum is set to ${LIMIT}`,
      }),
    ],
    ['without any number', () => ({ code: -32600, message: 'block range is too wide' })],
    [
      'with the very range that was asked for',
      (from, to) => ({
        code: -32005,
        message: `query returned more than 10000 results. Try with this block range [${hex(from)}, ${hex(to)}].`,
      }),
    ],
    [
      'with a range of nothing',
      () => ({ code: -32602, message: 'query exceeds max results 20000, retry with the range 0-0' }),
    ],
  ])('%s is asked for less and hides nothing', async (_, wording) => {
    await expectEverythingFound(() =>
      node.spoil(({ method, params }) => {
        const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string };
        if (method !== 'eth_getLogs' || fromBlock === undefined) return undefined;
        const [from, to] = [Number(fromBlock), Number(toBlock)];
        return to - from < LIMIT ? undefined : { result: undefined, error: wording(from, to) };
      }),
    );
  });

  test.each<[string, (calls: readonly Call[]) => { status: number; body: string } | undefined]>([
    [
      'as an error in place of the whole batch',
      () => ({
        status: 200,
        body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch size is too large"}}',
      }),
    ],
    ['as a status of HTTP', () => ({ status: 413, body: '<html>Request Entity Too Large</html>' })],
  ])('%s, about a batch, is asked for less and hides nothing', async (_, refusal) => {
    await expectEverythingFound(() => node.refuse((calls) => (calls.length > 2 * LIMIT ? refusal(calls) : undefined)));
  });
});

describe('an endpoint that refuses', () => {
  let world: World;
  let refusing: MisbehavingNode;
  let honest: MisbehavingNode;
  let watcher: RunningWatcher;

  beforeAll(async () => {
    world = await startWorld();
    [refusing, honest] = await Promise.all([misbehavingNode(world.chain), misbehavingNode(world.chain)]);
    watcher = world.watch({ rpcUrls: [refusing.url, honest.url] });
    await untilScanned(world);
  });
  afterAll(async () => {
    await world.close();
    await Promise.all([refusing.close(), honest.close()]);
  });
  afterEach(() => {
    refusing.replaceAll(null);
    honest.replaceAll(null);
  });

  const html = '<!doctype html><title>502 Bad Gateway</title>';
  const busy = { jsonrpc: '2.0', id: 1, error: { code: 429, message: 'compute units per second capacity exceeded' } };
  const denied = {
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32052, message: 'API key is not allowed to access blockchain' },
  };

  test.each([
    ['by 429', { status: 429, body: 'Too Many Requests' }],
    ['by 429 for a second', { status: 429, body: JSON.stringify(busy), headers: { 'retry-after': '1' } }],
    ['by a page of HTML and 502', { status: 502, body: html, headers: { 'content-type': 'text/html' } }],
    ['by a page of HTML and 200', { status: 200, body: html, headers: { 'content-type': 'text/html' } }],
    ['by an error in JSON and 403', { status: 403, body: JSON.stringify(denied) }],
    ['by an error in JSON and 200', { status: 200, body: JSON.stringify(busy) }],
    [
      'by an error of its own making and 200',
      { status: 200, body: '{"Error":"class java.lang.Exception : lack of computing resources"}' },
    ],
    ['by nothing at all and 200', { status: 200, body: '' }],
  ])('%s loses nothing, alone or with another one', async (_, refusal) => {
    const wallet = await watchedWallet(world);
    await untilScanned(world);
    refusing.replaceAll(refusal);
    await world.chain.transfer(wallet, 5n);
    await world.chain.mine(2);
    await untilReceived(world, wallet, ['seen', 'confirmed']);
    // Without the other one, nothing is published, but nothing is lost.
    honest.replaceAll(refusal);
    await world.chain.transfer(wallet, 6n);
    await world.chain.mine(2);
    await eventually(async () => {
      const { body } = await watcher.call('GET', '/internal/v1/chains');
      expect(body).toMatchObject([
        { endpoints: [{ last_error: expect.any(String) }, { last_error: expect.any(String) }] },
      ]);
    });
    expect(world.received.filter(({ to }) => to === wallet)).toHaveLength(2);
    refusing.replaceAll(null);
    honest.replaceAll(null);
    await eventually(() => {
      const received = world.received.filter(({ to }) => to === wallet).map((m) => `${m.amount_units} ${m.phase}`);
      expect(received.sort()).toEqual(['5 confirmed', '5 seen', '6 confirmed', '6 seen']);
    });
  });
});

describe('an endpoint that names the time when it may be asked again', () => {
  test('is not asked earlier, while the other one is', async () => {
    const world = await startWorld();
    const [busy, other] = await Promise.all([misbehavingNode(world.chain), misbehavingNode(world.chain)]);
    try {
      world.watch({ rpcUrls: [busy.url, other.url] });
      const wallet = await watchedWallet(world);
      await untilScanned(world);
      const askedAt: number[] = [];
      busy.refuse(() => {
        askedAt.push(performance.now());
        return { status: 429, body: 'Too Many Requests', headers: { 'retry-after': '4' } };
      });
      await world.chain.transfer(wallet, 5n);
      await world.chain.mine(1);
      await untilReceived(world, wallet, ['seen', 'confirmed']);
      // Requests that were sent before the refusal were refused, too, and have ended by now.
      const refused = askedAt.length;
      await eventually(() => expect(askedAt.length).toBeGreaterThan(refused));
      const [first, again] = [askedAt[0]!, askedAt[refused]!];
      expect(again - first).toBeGreaterThanOrEqual(4_000);
    } finally {
      await world.close();
      await Promise.all([busy.close(), other.close()]);
    }
  });
});
