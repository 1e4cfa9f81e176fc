import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CreationDatabase, creationDatabase } from './creation-rows.ts';

// Which amount is free among thousands: the test writes rows as payments leave them, and calls the function that chooses.

let database: CreationDatabase;
beforeAll(async () => {
  database = await creationDatabase(1);
  // 9,999 look-ups may take longer on a busy machine than a service waits.
  database.db.options.query_timeout = 0;
});
afterAll(() => database.close());

const PRICE = 49_900_000;
const everyFour = Array.from({ length: 99 }, (_, step) => 100 * (step + 1));
const everySix = Array.from({ length: 9_999 }, (_, step) => step + 1).filter((added) => added % 100 !== 0);

type Row = {
  added: number;
  status?: 'PENDING' | 'CHECKING' | 'PAID' | 'EXPIRED' | 'CANCELLED';
  /** Hours ago; it was created an hour before, and had half an hour. */
  ended?: number;
  /** Hours ago, when it was not paid in time. */
  paid?: number;
  plain?: boolean;
};

let wallets = 0;

/** A wallet with these payments, each this much above the price. */
async function walletWith(rows: readonly Row[]): Promise<string> {
  const wallet = `wallet-${(wallets += 1)}`;
  await add(wallet, rows);
  return wallet;
}

async function add(wallet: string, rows: readonly Row[]): Promise<void> {
  await database.db.query(
    `insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                          requested_amount, description, created_at, expires_at, expiry_check_at, cancelled_at, paid_at)
     select id, 'mer_1', id, sha256(id::bytea), coalesce(status, 'EXPIRED'), 'local', $1, 'as units', $2 + added,
            case when plain then null else '49.90' end, 'tea', ends_at - interval '30 minutes', ends_at, ends_at,
            case status when 'CANCELLED' then ends_at end,
            case status when 'PAID' then coalesce(now() - paid * interval '1 hour', ends_at) end
       from jsonb_to_recordset($3) as given (added bigint, status text, ended float8, paid float8, plain boolean),
            lateral (select now() - coalesce(ended, 1) * interval '1 hour' as ends_at) as at,
            lateral (select $1 || added || random() as id) as named`,
    [wallet, PRICE, JSON.stringify(rows)],
  );
}

/** @returns how much more than the price was chosen. */
async function choose(wallet: string): Promise<number | null> {
  await database.db.query('set statement_timeout = 0');
  const { rows } = await database.db.query<{ units: bigint | null }>(
    `select choose_unique_amount('local', $1, $2) as units`,
    [wallet, PRICE],
  );
  const units = rows[0]!.units;
  return units === null ? null : Number(units) - PRICE;
}

const others = (...but: number[]) => everyFour.filter((added) => !but.includes(added));
const open = (added: number): Row => ({ added, status: 'PENDING' });
const rests = (added: number): Row => ({ added, ended: 23.9 });

describe('an amount with four decimals', () => {
  test('is given last when another one would become it without its last digit', async () => {
    const wallet = await walletWith(others(1000, 1100).map(open));
    for (let time = 0; time < 8; time += 1) expect(await choose(wallet)).toBe(1100);
    await add(wallet, [open(1100)]);
    expect(await choose(wallet)).toBe(1000);
  });

  test.each<[string, Row[], boolean]>([
    ['expired a little less than 24 hours ago', [{ added: 4200, ended: 23.9 }], false],
    ['expired a little more than 24 hours ago', [{ added: 4200, ended: 24.1 }], true],
    ['was cancelled', [{ added: 4200, status: 'CANCELLED', ended: 23 }], false],
    ['was paid', [{ added: 4200, status: 'PAID', ended: 23 }], false],
    ['was a plain payment’s', [{ added: 4200, ended: 23, plain: true }], false],
    [
      'was given twice, the last time yesterday',
      [
        { added: 4200, ended: 90 },
        { added: 4200, ended: 2 },
      ],
      false,
    ],
    [
      'was accepted today for a payment from before the last one',
      [
        { added: 4200, status: 'PAID', ended: 90, paid: 2 },
        { added: 4200, ended: 40 },
      ],
      false,
    ],
    ['is CHECKING', [{ added: 4200, status: 'CHECKING' }], false],
    ['waits ninety-nine millionths above', [open(4299)], false],
    ['waits fifty millionths below', [open(4150)], false],
    ['has six decimals near it that are cut and rounded elsewhere', [open(4149), open(4300), rests(4210)], true],
  ])('that %s', async (_what, rows, isFree) => {
    const wallet = await walletWith([...others(4200).map(rests), ...rows]);
    if (isFree) expect(await choose(wallet)).toBe(4200);
    else expect((await choose(wallet))! % 100).not.toBe(0);
  });

  test('is any of those that are free', async () => {
    const free = [100, 5100, 9900];
    const wallet = await walletWith(others(...free).map(rests));
    const chosen = new Set<number | null>();
    for (let time = 0; time < 40; time += 1) chosen.add(await choose(wallet));
    expect([...chosen].sort((a, b) => a! - b!)).toEqual(free);
  });
});

describe('an amount with six decimals, when none with four is free', () => {
  describe('with thousands of resting amounts', () => {
    let wallet: string;
    beforeAll(async () => {
      wallet = await walletWith([...everyFour, ...everySix].map(rests));
    });
    const age = (hours: number, ...added: number[]) =>
      database.db.query(
        `update payment set created_at = created_at - $3 * interval '1 hour', expires_at = expires_at - $3 * interval '1 hour'
          where recipient = $1 and amount_units = any($2)`,
        [wallet, added.map((one) => PRICE + one), hours],
      );

    test('is found if it is the only one that is free, whichever it is', async () => {
      expect(await choose(wallet)).toBeNull();
      for (const free of [1, 5_432, 9_999]) {
        await age(1, free);
        expect(await choose(wallet)).toBe(free);
        await age(-1, free);
      }
    });

    test('is not one that still waits after its time', async () => {
      await age(48, 777);
      await database.db.query(`update payment set status = 'PENDING' where recipient = $1 and amount_units = $2`, [
        wallet,
        PRICE + 777,
      ]);
      expect(await choose(wallet)).toBeNull();
    });

    test('is not rounded to the next cent where a payment waits for that', async () => {
      await age(1, 9_970, 20);
      await add(wallet, [{ ...open(10_000), plain: true }]);
      for (let time = 0; time < 10; time += 1) expect(await choose(wallet)).toBe(20);
    });
  });

  test('is neither cut nor rounded to one that waits', async () => {
    const waiting = new Set(everyFour.filter((added) => added !== 4200 && added !== 4300));
    const wallet = await walletWith([...[...waiting].map(open), rests(4200), rests(4300)]);
    const free = everySix.filter(
      (added) => !waiting.has(Math.floor(added / 100) * 100) && !waiting.has(Math.round(added / 100) * 100),
    );
    const chosen: number[] = [];
    while (chosen.length < free.length) {
      const added = (await choose(wallet))!;
      chosen.push(added);
      await add(wallet, [open(added)]);
    }
    expect(chosen.sort((a, b) => a - b)).toEqual(free);
    expect(await choose(wallet)).toBeNull();
  });

  test('is not given while the bare price waits', async () => {
    expect(await choose(await walletWith([{ ...open(0), plain: true }]))).toBeNull();
  });
});
