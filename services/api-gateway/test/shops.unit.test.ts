import { describe, expect, test } from '@jest/globals';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { nobody } from '@quittance/checkout-page/shop.ts';
import { createShops } from '../src/profile/shops.ts';

/** A database with one shop, whose name can change, and which can become unavailable. */
function shopNames() {
  const world = { name: 'Corner Shop' as string | null, isDown: false, reads: 0, now: 0 };
  const query = ({ values: [ids] }: { values: [string[]] }) => {
    world.reads += 1;
    if (world.isDown) return Promise.reject(new Error('the database is gone'));
    return Promise.resolve({ rows: ids.map((id) => ({ is_known: id === 'mer_1', ...nobody, name: world.name })) });
  };
  const db = { query } as unknown as Queryable;
  const shopOf = createShops({ db, logger: testLogger, now: () => world.now });
  return { world, shopNameOf: async (merchantId: string) => (await shopOf(merchantId)).name };
}

describe('the name of a shop', () => {
  test('is read once for many pages, and again after five seconds', async () => {
    const { world, shopNameOf } = shopNames();
    expect(await Promise.all([shopNameOf('mer_1'), shopNameOf('mer_1'), shopNameOf('mer_2')])).toEqual([
      'Corner Shop',
      'Corner Shop',
      null,
    ]);
    world.name = 'Café';
    expect(await shopNameOf('mer_1')).toBe('Corner Shop');
    expect(world.reads).toBe(1);
    world.now = 5_000;
    expect(await shopNameOf('mer_1')).toBe('Café');
  });

  test('is the last known one, or none, while the database is unavailable', async () => {
    const { world, shopNameOf } = shopNames();
    await shopNameOf('mer_1');
    Object.assign(world, { isDown: true, now: 5_000 });
    expect(await Promise.all([shopNameOf('mer_1'), shopNameOf('mer_3')])).toEqual(['Corner Shop', null]);
  });
});
