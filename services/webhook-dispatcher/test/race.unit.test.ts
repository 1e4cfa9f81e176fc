import { describe, expect, test } from '@jest/globals';
import { interleave, race } from '../src/sending/race.ts';

type Result = 'wins' | 'fails' | 'never' | Promise<string>;

/** Races addresses with given results. `log`: what was started, given up and discarded, in order. */
async function raceOf(results: Record<string, Result>, isConnected = false) {
  const log: string[] = [];
  const won = race(Object.keys(results), {
    attempt: (address, { connected, lost }) => {
      log.push(address);
      if (isConnected) connected();
      lost.addEventListener('abort', () => log.push(`${address} lost`));
      const result = results[address]!;
      if (result === 'fails') return Promise.reject(new Error(`${address} failed`));
      return result === 'never' ? new Promise<string>(() => undefined) : Promise.resolve(result).then(() => address);
    },
    discard: (address) => void log.push(`${address} discarded`),
  });
  return { won: await won.catch((error: unknown) => (error as Error).message), log };
}

describe('a race of addresses', () => {
  test('ends immediately when the first one connects', async () => {
    expect(await raceOf({ a: 'wins', b: 'wins' })).toEqual({ won: 'a', log: ['a', 'a lost'] });
  });

  test('tries the next address when one fails', async () => {
    expect(await raceOf({ a: 'fails', b: 'fails', c: 'wins' })).toMatchObject({ won: 'c' });
  });

  test('tries the next address when one drops packets, and gives that one up when another has won', async () => {
    const { won, log } = await raceOf({ a: 'never', b: 'never', c: 'wins', d: 'wins' });
    expect(won).toBe('c');
    expect(log.slice(0, 3)).toEqual(['a', 'b', 'c']);
    expect(log).toEqual(expect.arrayContaining(['a lost', 'b lost']));
    expect(log).not.toContain('d');
  });

  test('tries the next address when one connects but never ends its handshake', async () => {
    expect(await raceOf({ a: 'never', b: 'wins' }, true)).toMatchObject({ won: 'b' });
  });

  test('closes a connection that is established after another has won', async () => {
    const { promise: late, resolve: stand } = Promise.withResolvers<string>();
    const { won, log } = await raceOf({ late, b: 'wins' });
    stand('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect([won, log.at(-1)]).toEqual(['b', 'late discarded']);
  });

  test('fails with the error of the last one when all have failed', async () => {
    expect(await raceOf({ a: 'fails', b: 'fails' })).toMatchObject({ won: 'b failed' });
  });
});

test('addresses of both families alternate, IPv6 first, each in its own order', () => {
  expect(interleave(['1.1.1.1', '2001::1', '2001::2', '2001::3', '1.1.1.2'])).toEqual([
    ...['2001::1', '1.1.1.1', '2001::2', '1.1.1.2', '2001::3'],
  ]);
  expect(interleave(['1.1.1.1', '1.1.1.2'])).toEqual(['1.1.1.1', '1.1.1.2']);
  expect(interleave([])).toEqual([]);
});
