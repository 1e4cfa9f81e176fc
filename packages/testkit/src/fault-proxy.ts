import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export type FaultProxy = {
  port: number;
  /** The target's URL with this proxy's address; only host:port if the target was not a URL. */
  url: string;
  /** Resets every connection and refuses new ones. */
  cut(): void;
  /** How many connections it has refused so far. */
  refused(): number;
  /** Stops passing bytes without closing connections, like a network that drops packets. */
  stall(): void;
  restore(): void;
  /** From now on, new connections go to these (host:port or URL) in turn; targets that refuse are skipped. */
  lead(...targets: string[]): void;
  /** Delays every chunk by this time, in both directions. The order is kept. */
  delay(ms: number): void;
  close(): Promise<void>;
};

type Mode = { cut: boolean; stalled: boolean; delayMs: number };
type Track = (socket: Socket) => void;

/**
 * A TCP proxy between a client and a real server, with faults on demand.
 * @param target a URL (amqp://…, postgres://…, http://…) or host:port.
 */
export async function faultProxy({ target }: { target: string }): Promise<FaultProxy> {
  const upstream = addressIn(target);
  let upstreams = [upstream];
  let turn = 0;
  const mode: Mode = { cut: false, stalled: false, delayMs: 0 };
  const sockets = new Set<Socket>();
  let refused = 0;
  const track: Track = (socket) => sockets.add(socket).size && socket.once('close', () => sockets.delete(socket));

  const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
    if (mode.cut) {
      refused += 1;
      return void client.resetAndDestroy();
    }
    track(client);
    turn = (turn + 1) % upstreams.length;
    void passOn(client, [...upstreams.slice(turn), ...upstreams.slice(0, turn)], mode, track);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const reset = () => {
    for (const socket of sockets) {
      // A socket that is already closing can't be reset: Node would keep it.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
  };
  return {
    port,
    url: proxiedAddress(target, upstream, port),
    cut: () => {
      mode.cut = true;
      reset();
    },
    refused: () => refused,
    stall: () => {
      mode.stalled = true;
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      Object.assign(mode, { cut: false, stalled: false, delayMs: 0 });
      for (const socket of sockets) socket.resume();
    },
    lead: (...targets) => {
      upstreams = targets.map(addressIn);
    },
    delay: (ms) => {
      mode.delayMs = ms;
    },
    close: () => {
      reset();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const addressIn = (target: string): URL => (target.includes('://') ? new URL(target) : new URL(`tcp://${target}`));

/** @returns a connection to the first target that accepts it, null when none does. */
async function connectFirst(upstreams: readonly URL[], track: Track): Promise<Socket | null> {
  for (const { hostname, port } of upstreams) {
    const onward = connect({ host: hostname, port: Number(port), noDelay: true });
    track(onward);
    const isOpen = await new Promise<boolean>((resolve) => {
      onward.once('connect', () => resolve(true)).once('error', () => resolve(false));
      onward.once('close', () => resolve(false));
    });
    if (isOpen) return onward;
  }
  return null;
}

async function passOn(client: Socket, upstreams: readonly URL[], mode: Mode, track: Track): Promise<void> {
  client.on('error', () => client.destroy());
  const onward = await connectFirst(upstreams, track);
  if (onward === null || client.destroyed) {
    client.destroy();
    onward?.destroy();
    return;
  }
  relay(client, onward, mode);
  relay(onward, client, mode);
}

function relay(from: Socket, to: Socket, mode: Mode): void {
  // Each delay counts from the chunk's arrival, so that many chunks take no longer than one. Each waits for the
  // previous one, so that the order is kept when the delay gets shorter.
  let before: Promise<void> = Promise.resolve();
  const inOrder = (step: () => void) => {
    const due = performance.now() + mode.delayMs;
    before = before
      .then(() => {
        const leftMs = due - performance.now();
        return leftMs > 0 ? new Promise<void>((done) => setTimeout(done, leftMs)) : undefined;
      })
      .then(step);
  };
  from.on('data', (chunk) => {
    inOrder(() => {
      if (to.writable && !to.write(chunk)) {
        from.pause();
        to.once('drain', () => mode.stalled || from.resume());
      }
    });
  });
  from.on('end', () => inOrder(() => void to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
  if (mode.stalled) from.pause();
  else from.resume();
}

function proxiedAddress(target: string, upstream: URL, port: number): string {
  if (!target.includes('://')) return `127.0.0.1:${port}`;
  const url = new URL(upstream);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
