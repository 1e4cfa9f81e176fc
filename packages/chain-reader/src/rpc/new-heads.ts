import type { Socket } from 'node:net';
import { Agent, WebSocket, buildConnector } from 'undici';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { RpcNetwork } from './network.ts';

/** Milliseconds. */
export type NewHeadsTiming = {
  /** The shortest time between two hints, however many blocks are announced. */
  gapMs: number;
  /** A connection that has said nothing for so long is asked whether it still lives. */
  quietMs: number;
  /** A connection that is being made, or was asked, and does not answer for so long is dead. */
  answerMs: number;
  /** The first pause before connecting again and the longest; each is twice the one before. */
  retry: { firstMs: number; maxMs: number };
};

const TIMING: NewHeadsTiming = {
  gapMs: 200,
  quietMs: 30_000,
  answerMs: 10_000,
  retry: { firstMs: 1_000, maxMs: 300_000 },
};
/** An announcement is a block's header. Whoever sends more is disconnected. */
const MAX_MESSAGE_BYTES = 256 * 1024;
const SUBSCRIBE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] });
const ARE_YOU_THERE = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'eth_chainId', params: [] });

/**
 * Listens to the endpoints that have a WebSocket, and calls `hint` when one of them announces a block. That is all that is taken from
 * them: what the chain holds is read over HTTP, and looks at regular times go on whether anybody announces anything or not.
 */
export function followNewHeads({
  network,
  hint,
  logger,
  metrics,
  timing = TIMING,
}: {
  network: Pick<RpcNetwork, 'id' | 'endpoints'>;
  hint: () => void;
  logger: Logger;
  metrics: Metrics;
  timing?: NewHeadsTiming;
}): { close(): void } {
  const paced = createPace(hint, timing.gapMs);
  const connected = metrics.gauge('chain_new_heads_connected', '1 while an endpoint announces its blocks', [
    'network',
    'endpoint',
  ]);
  const followers = network.endpoints.flatMap(({ wsUrl, headers }, position) => {
    if (wsUrl === null) return [];
    const label = { network: network.id, endpoint: String(position) };
    const told = (isConnected: boolean) => connected.set(label, isConnected ? 1 : 0);
    return [follow({ url: wsUrl, headers, announced: paced.hint, told, log: logger.child(label), timing })];
  });
  return {
    close() {
      paced.close();
      for (const follower of followers) follower.close();
    },
  };
}

type FollowOptions = {
  url: string;
  headers: Record<string, string>;
  announced: () => void;
  told: (isConnected: boolean) => void;
  log: Logger;
  timing: NewHeadsTiming;
};

/** Keeps one connection, for ever. Its URL and what the other side says are never logged: both may hold a key. */
function follow({ url, headers, announced, told, log, timing }: FollowOptions): { close(): void } {
  let failures = 0;
  let drop = (): void => undefined;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  function connect(): void {
    const lost = (why: string) => {
      if (isClosed) return;
      told(false);
      const { firstMs, maxMs } = timing.retry;
      const stepMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 20));
      const pauseMs = stepMs / 2 + (stepMs / 2) * Math.random();
      failures += 1;
      log.info({ why, retry_ms: Math.round(pauseMs) }, 'new heads are not announced');
      retry = setTimeout(connect, pauseMs).unref();
    };
    drop = listen({
      ...{ url, headers, timing, lost },
      subscribed() {
        told(true);
        log.info('new heads are announced');
      },
      announced() {
        // Only now it is worth connecting again soon: an endpoint that takes us in and never says anything is not.
        failures = 0;
        announced();
      },
    });
  }

  told(false);
  connect();
  return {
    close() {
      isClosed = true;
      clearTimeout(retry);
      drop();
    },
  };
}

type ListenOptions = {
  url: string;
  headers: Record<string, string>;
  timing: NewHeadsTiming;
  subscribed: () => void;
  announced: () => void;
  /** Called once, at the end. */
  lost: (why: string) => void;
};

/** One connection. @returns what ends it at once, without a word to `lost`. */
function listen({ url, headers, timing, subscribed, announced, lost }: ListenOptions): () => void {
  const sockets = new Set<Socket>();
  const agent = new Agent({
    allowH2: false,
    connect: keepingSockets(sockets, timing.answerMs),
    webSocket: { maxPayloadSize: MAX_MESSAGE_BYTES },
  });
  const webSocket = new WebSocket(url, { dispatcher: agent, headers });
  let isOver = false;

  function drop(): void {
    isOver = true;
    clearTimeout(watch);
    // A closing handshake with somebody who is silent takes for ever.
    for (const socket of sockets) socket.destroy();
    void agent.destroy();
  }
  function end(why: string): void {
    if (isOver) return;
    drop();
    lost(why);
  }
  /** Silence is normal on a quiet chain; silence after a question is not. */
  function ask(): void {
    webSocket.send(ARE_YOU_THERE);
    watch = setTimeout(() => end('it does not answer'), timing.answerMs).unref();
  }
  let watch = setTimeout(() => end('no connection in time'), timing.answerMs).unref();

  webSocket.addEventListener('open', () => {
    if (!isOver) webSocket.send(SUBSCRIBE);
  });
  webSocket.addEventListener('message', ({ data }: { data: unknown }) => {
    if (isOver) return;
    clearTimeout(watch);
    watch = setTimeout(ask, timing.quietMs).unref();
    const said = parseMessage(data);
    if (said === 'refused') end('it takes no subscription');
    if (said === 'subscribed') subscribed();
    if (said === 'announced') announced();
  });
  webSocket.addEventListener('error', () => end('the connection failed'));
  webSocket.addEventListener('close', () => end('the connection was closed'));
  return drop;
}

function parseMessage(data: unknown): 'subscribed' | 'refused' | 'announced' | null {
  try {
    const message = (typeof data === 'string' ? JSON.parse(data) : null) as Record<string, unknown> | null;
    if (message?.['method'] === 'eth_subscription') return 'announced';
    if (message?.['id'] !== 1) return null;
    return 'result' in message ? 'subscribed' : 'refused';
  } catch {
    return null;
  }
}

/** The sockets of WebSockets are nobody's any more once they are open, so they are kept for dropping. */
function keepingSockets(sockets: Set<Socket>, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false });
  return (options, done) => {
    connect(options, (...result: buildConnector.CallbackArgs) => {
      const [error, socket] = result;
      if (error === null) sockets.add(socket);
      done(...result);
    });
  };
}

/** At most one hint in each gap; the last of a flood is never lost. */
function createPace(hint: () => void, gapMs: number): { hint(): void; close(): void } {
  let next = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const give = () => {
    timer = undefined;
    next = performance.now() + gapMs;
    hint();
  };
  return {
    hint() {
      if (timer !== undefined) return;
      const waitMs = next - performance.now();
      if (waitMs <= 0) give();
      else timer = setTimeout(give, waitMs).unref();
    },
    close: () => clearTimeout(timer),
  };
}
