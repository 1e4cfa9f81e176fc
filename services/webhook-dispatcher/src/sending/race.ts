import { isIPv6 } from 'node:net';

/** Time until the next address is tried, unless the one before fails. Source: RFC 8305, section 5. */
const NEXT_AFTER_MS = 250;
/** The same after TCP is connected: the time that TLS gets. */
const NEXT_AFTER_CONNECT_MS = 1_000;

type Race<S> = {
  /** Connects to one address. It calls `connected` when TCP is connected; `lost` aborts when another address has won. */
  attempt: (address: string, how: { connected: () => void; lost: AbortSignal }) => Promise<S>;
  /** Closes a connection that was too late. */
  discard: (connection: S) => void;
};

/**
 * Connects to one of several addresses, as RFC 8305 ("Happy Eyeballs") describes: it tries them in order, each a quarter of a second after the
 * one before or right after that failed, and the first connection wins. So an address that drops packets, or a machine without IPv6, costs
 * a moment instead of the whole attempt.
 * @param addresses in the order in which they are tried; see `interleave`.
 * @throws the error of the last address that failed.
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

/** IPv6 and IPv4 alternately, IPv6 first, each in the given order: if one family does not work, the other one is next. */
export function interleave(addresses: readonly string[]): string[] {
  const six = addresses.filter((address) => isIPv6(address));
  const four = addresses.filter((address) => !isIPv6(address));
  return Array.from({ length: Math.max(six.length, four.length) }, (_, n) => [six[n], four[n]])
    .flat()
    .filter((address) => address !== undefined);
}
