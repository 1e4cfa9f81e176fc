import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger, type Logger } from '@quittance/runtime/logger.ts';
import { createMetrics, type Metrics } from '@quittance/runtime/metrics.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { followNewHeads, type NewHeadsTiming } from '../src/rpc/new-heads.ts';
import { tcpProxy, type TcpProxy } from './tcp-proxy.ts';

const QUICK: NewHeadsTiming = { gapMs: 1, quietMs: 60_000, answerMs: 60_000, retry: { firstMs: 20, maxMs: 200 } };
const announcement = JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params: { result: {} } });

describe('an endpoint that announces its blocks', () => {
  let chain: TestChain;
  let proxy: TcpProxy;
  let following: { close(): void };
  let hints: number;
  let lines: string[];
  let metrics: Metrics;

  beforeAll(async () => {
    chain = await testChain();
  });
  afterAll(() => chain.close());
  beforeEach(async () => {
    proxy = await tcpProxy(chain.rpcUrl);
  });
  afterEach(async () => {
    following.close();
    await proxy.close();
  });

  function follow(
    timing: Partial<NewHeadsTiming> = {},
    wsUrl = `ws://127.0.0.1:${proxy.port}/?key=a-secret-key`,
  ): void {
    [hints, lines] = [0, []];
    metrics = createMetrics({ service: 'test', processMetrics: false });
    const logger: Logger = createLogger(
      { service: 'test', level: 'trace' },
      { write: (line) => void lines.push(line) },
    );
    following = followNewHeads({
      network: {
        id: 'local',
        endpoints: [
          { url: '', headers: {}, wsUrl: null, requestsPerSecond: null, dailyPlan: null },
          { url: '', headers: {}, wsUrl, requestsPerSecond: null, dailyPlan: null },
        ],
      },
      ...{ logger, metrics, onAnnounced: () => void (hints += 1), timing: { ...QUICK, ...timing } },
    });
  }

  const untilFollowing = () =>
    eventually(async () => {
      const { text } = await metrics.render();
      expect(text).toMatch(/^chain_new_heads_connected\{.*endpoint="1".*\} 1$/m);
    });

  const untilHint = async () => {
    const before = hints;
    await chain.mine(1);
    await eventually(() => expect(hints).toBeGreaterThan(before));
  };

  test('gives a hint for each block', async () => {
    follow();
    await untilFollowing();
    await untilHint();
    await untilHint();
    expect(proxy.connections()).toEqual({ taken: 1, open: 1 });
  });

  test('is connected again each time the connection is lost', async () => {
    follow();
    for (let cuts = 1; cuts <= 4; cuts += 1) {
      await untilFollowing();
      await untilHint();
      proxy.cut();
      await eventually(() => expect(proxy.connections().taken).toBe(cuts + 1));
    }
  });

  test('is connected as soon as it is available', async () => {
    const away = await faultProxy({ target: chain.rpcUrl });
    away.cut();
    follow({}, `ws://127.0.0.1:${away.port}/?key=a-secret-key`);
    await eventually(() => expect(lines.filter((line) => line.includes('not announced')).length).toBeGreaterThan(2));
    away.restore();
    await untilFollowing();
    await untilHint();
    following.close();
    await away.close();
  });

  test('counts as dead when it stops sending, even if the connection stays open', async () => {
    follow({ quietMs: 50, answerMs: 100 });
    await untilFollowing();
    proxy.freeze();
    await eventually(() => expect(proxy.connections().taken).toBeGreaterThan(1));
    // On a busy machine, such a short deadline may expire, and a block at that moment is not announced.
    await eventually(async () => {
      await chain.mine(1);
      expect(hints).toBeGreaterThan(0);
    });
    await eventually(() => expect(proxy.connections().open).toBe(1));
  });

  test('counts as dead when it accepts the connection and never sends anything', async () => {
    proxy.freeze(true);
    follow({ answerMs: 100 });
    await eventually(() => expect(proxy.connections().taken).toBeGreaterThan(2));
  });

  test('stays connected on a quiet chain while it answers', async () => {
    follow({ quietMs: 20 });
    await untilFollowing();
    const before = proxy.received();
    await eventually(() => expect(proxy.received()).toBeGreaterThan(before + 500));
    expect(proxy.connections()).toEqual({ taken: 1, open: 1 });
    expect(hints).toBe(0);
  });

  test('gives one hint during a flood of announcements, and one after it', async () => {
    follow({ gapMs: 60_000 });
    await untilFollowing();
    for (let messages = 0; messages < 5_000; messages += 1) proxy.inject(announcement);
    proxy.cut();
    // By the time of the next connection, everything from before has been read.
    await eventually(() => expect(proxy.connections().taken).toBe(2));
    expect(hints).toBe(1);
    following.close();

    follow({ gapMs: 300 });
    await untilFollowing();
    for (let messages = 0; messages < 5_000; messages += 1) proxy.inject(announcement);
    await eventually(() => expect(hints).toBe(2));
  });

  test('gives no hint for other messages', async () => {
    follow();
    await untilFollowing();
    for (const text of ['', 'x', 'null', '[]', '7', '{"method":"eth_other"}', '{"id":3,"result":1}'])
      proxy.inject(text);
    proxy.cut();
    await eventually(() => expect(proxy.connections().taken).toBe(2));
    expect(hints).toBe(0);
  });

  test('is disconnected when a message is longer than any header', async () => {
    follow();
    await untilFollowing();
    proxy.inject(JSON.stringify({ method: 'eth_subscription', params: 'x'.repeat(300_000) }));
    await eventually(() => expect(proxy.connections().taken).toBe(2));
    expect(hints).toBe(0);
  });

  test('that refuses the subscription is asked again later', async () => {
    follow();
    await untilFollowing();
    proxy.inject(JSON.stringify({ id: 1, error: { code: -32601, message: 'no subscriptions for a-secret-key' } }));
    await eventually(() => expect(proxy.connections().taken).toBe(2));
    await untilFollowing();
  });

  test('is disconnected when the service stops', async () => {
    follow();
    await untilFollowing();
    following.close();
    await eventually(() => expect(proxy.connections().open).toBe(0));
    const before = hints;
    await chain.mine(3);
    expect(proxy.connections().taken).toBe(1);
    expect(hints).toBe(before);
  });

  test('never has its URL, which holds a key, logged', async () => {
    follow();
    await untilFollowing();
    proxy.cut();
    await eventually(() => expect(proxy.connections().taken).toBe(2));
    proxy.inject(JSON.stringify({ id: 1, error: { code: -32601, message: 'no subscriptions for a-secret-key' } }));
    await eventually(() => expect(proxy.connections().taken).toBe(3));
    await eventually(() => expect(lines.length).toBeGreaterThan(3));
    expect(lines.join('')).not.toMatch(/a-secret-key|127\.0\.0\.1/);
  });
});
