import { isIPv6 } from 'node:net';

/** From one attempt to connect to the next, while none has failed. Source: RFC 8305, section 5. */
const NEXT_AFTER_MS = 250;
/** Once one is connected, TLS gets this long before the next address is tried beside it. */
const NEXT_AFTER_CONNECT_MS = 1_000;

type Race<S> = {
  /** Connects to one address. `connected` is to be called when TCP stands, `lost` aborts when another one has won. */
  attempt: (address: string, how: { connected: () => void; lost: AbortSignal }) => Promise<S>;
  /** Closes a connection that came too late to win. */
  discard: (connection: S) => void;
};

/**
 * Connects to one of several addresses, as RFC 8305 ("Happy Eyeballs") does: one after the other, each a quarter of a second after the
 * one before or at once when that failed, and the first that stands wins. So an address that swallows packets, or a machine without IPv6,
 * costs a moment and not the whole attempt.
 * @param addresses in the order in which they are tried; see `interleave`.
 * @throws what the last address to fail threw.
 */
export async function race<S>(addresses: readonly string[], { attempt, discard }: Race<S>): Promise<S> {
  const lost = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<S>();
  let timer: NodeJS.Timeout | undefined;
  let [next, failed, isWon] = [0, 0, false];

  function tryNextAfter(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(tryNext, ms);
  }

  function tryNext(): void {
    const address = addresses[next];
    if (address === undefined || isWon) return;
    next += 1;
    const position = next;
    tryNextAfter(NEXT_AFTER_MS);
    const connected = (): void => {
      if (position === next) tryNextAfter(NEXT_AFTER_CONNECT_MS);
    };
    attempt(address, { connected, lost: lost.signal }).then(
      (connection) => {
        if (isWon) discard(connection);
        isWon = true;
        resolve(connection);
      },
      (error: unknown) => {
        failed += 1;
        if (failed === addresses.length) reject(error instanceof Error ? error : new Error(String(error)));
        else if (position === next) tryNextAfter(0);
      },
    );
  }

  tryNext();
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    lost.abort();
  }
}

/** IPv6 and IPv4 in turn, IPv6 first, each in the order given: whichever family does not work, the other one is next. */
export function interleave(addresses: readonly string[]): string[] {
  const six = addresses.filter((address) => isIPv6(address));
  const four = addresses.filter((address) => !isIPv6(address));
  return Array.from({ length: Math.max(six.length, four.length) }, (_, n) => [six[n], four[n]])
    .flat()
    .filter((address) => address !== undefined);
}
