import { describe, expect, test } from '@jest/globals';
import { type OptionName, optionEntries } from '@quittance/contracts/api/creation.ts';
import { type Creation, decide, fingerprintsOf, type Known } from '../src/payment/creation-rule.ts';

const TTL = 1800;
const plain = {
  amount: '10.50',
  amount_units: 10_500_000n,
  merchant_wallet: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
  network: 'ethereum',
  description: 'Order 1007',
};
type Requested = Parameters<typeof fingerprintsOf>[0];
const both = (options: Partial<Requested> = {}, ttl = TTL) => {
  const { fingerprint, equal_fingerprint } = fingerprintsOf({ ...plain, ...options }, ttl);
  return { said: fingerprint.toString('hex'), equal: equal_fingerprint?.toString('hex') ?? null };
};
const of = (options: Partial<Requested> = {}) => both(options).said;

test('a request without options has the fingerprint of releases without options', () => {
  expect(of()).toBe('674bdbe1a372306b5405822118f1e7d404c8eaa04750ceb91967ca176c3ccf2e');
});

test('a request with every option has the fingerprint of earlier releases', () => {
  const options = {
    order_id: 'a',
    metadata: { z: '1', b: '2' },
    return_url: 'https://x',
    expires_in: 900,
    unique_amount: true,
  };
  expect(of(options)).toBe('ceda011b5837a94bb30348303cfeaf657085a4a5021dbb33275cfa21077e17a0');
});

test('an option with its default value changes nothing', () => {
  expect(of({ unique_amount: false })).toBe(of());
});

test('expires_in with the value of the setting equals its absence; any other value equals none', () => {
  const [absent, said] = [both(), both({ expires_in: TTL })];
  expect(said).toEqual({ said: absent.equal, equal: absent.said });
  expect(said.said).not.toBe(absent.said);
  expect(both({ expires_in: 900 }).equal).toBeNull();
});

test('a request has one fingerprint of its values, whatever the setting', () => {
  for (const options of [{}, { expires_in: TTL }, { expires_in: 900, order_id: 'a' }])
    expect(both(options, 900).said).toBe(both(options).said);
});

/** Two values of each option, neither of which means the same as leaving it out. */
const values: { [N in OptionName]: [one: Requested[N], other: Requested[N], ...more: Requested[N][]] } = {
  order_id: ['a', 'b'],
  metadata: [{ a: 'b' }, { a: 'c' }, { b: 'a' }, { a: 'b', b: 'a' }],
  return_url: ['https://shop.example', 'https://shop.example/'],
  expires_in: [900, TTL],
  // Its other value is the default.
  unique_amount: [true, true],
  wallet_pool: ['main', 'shop'],
  dedicated_wallet: [true, true],
  accept_from_percent: [90, 50],
  price: [
    { amount: '10.50', currency: 'EUR' },
    { amount: '10.51', currency: 'EUR' },
    { amount: '10.50', currency: 'USD' },
  ],
};

test('each option and each of its values has its own fingerprint', () => {
  expect(Object.keys(values).sort()).toEqual(optionEntries.map(([name]) => name).sort());
  const requests: Partial<Requested>[] = [
    {},
    { amount_units: 10_500_001n },
    { merchant_wallet: null },
    { network: 'tron' },
    { description: 'Order 1008' },
    { order_id: 'a', unique_amount: true },
  ];
  for (const [name, several] of Object.entries(values))
    for (const value of new Set<unknown>(several)) requests.push({ [name]: value });
  expect(new Set(requests.map((request) => of(request))).size).toBe(requests.length);
});

test('a price counts by its value, and the amount that it is converted to does not count', () => {
  const priced = (amount: string, change: object = {}) =>
    of({ amount: null, amount_units: null, price: { amount, currency: 'EUR' }, ...change });
  expect(priced('49.9')).toBe(priced('49.90'));
  expect(priced('50')).toBe(priced('50.00'));
  expect(priced('49.90', { amount: '57.95', amount_units: 57_950_000n })).toBe(priced('49.90'));
  expect(priced('49.90', { price: { currency: 'EUR', amount: '49.90' } })).toBe(priced('49.90'));
  expect(new Set(['5', '50', '500', '0.5', '0.05'].map((amount) => priced(amount))).size).toBe(5);
});

test('the order of the metadata makes no difference', () => {
  expect(of({ metadata: { a: '1', b: '2' } })).toBe(of({ metadata: { b: '2', a: '1' } }));
});

const rules = { ttlSeconds: TTL, walletBinding: true, publicBaseUrl: 'https://pay.example', networks: ['local'] };
const clock = new Date('2026-03-01T12:00:00.123Z');
const creation: Creation = { ...plain, merchant_id: 'mer_1', idempotency_key: 'order 7' };
const known: Known = {
  clock,
  ...{ network: 'local', recipient: plain.merchant_wallet, rest_seconds: null, derivation_index: null },
  ...{ source_id: null, is_derived: false, is_used: false },
  ...{ newest_at: null, owner: null, is_proven: false, free_units: plain.amount_units, reply: null },
  gate: {
    policy: {
      ...{
        merchant_id: 'mer_1',
        policy_version: 1,
        access_type: 'legacy',
        account_active: true,
        creation_paused: false,
      },
      ...{ beta_duration_days: null, beta_started_at: null, beta_expires_at: null },
      ...{ total_limit: 100, daily_limit: null, package_number: 1 },
    },
    usage: { used_lifetime: 0, package_base: 0, used_day: null, used_today: 0 },
    webhookOk: true,
  },
};
const outcome = (change: Partial<Known>, options: Partial<typeof rules> = {}) =>
  decide(creation, { ...known, ...change }, { ...rules, ...options }).outcome;

/** What an allowed creation writes. */
function written(change: Partial<Known> = {}, options: Partial<Creation> = {}) {
  const decision = decide({ ...creation, ...options }, { ...known, ...change }, rules);
  if (decision.outcome !== 'created') throw new Error(decision.outcome);
  return { ...decision.write, reply: JSON.parse(decision.write.reply) as object };
}

describe('a creation is refused', () => {
  const gate = known.gate!;
  test.each<[outcome: string, change: Partial<Known>, options?: Partial<typeof rules>]>([
    ['unknown_merchant', { gate: null, owner: 'mer_2' }],
    ['creation_paused', { gate: { ...gate, policy: { ...gate.policy, creation_paused: true }, webhookOk: false } }],
    ['webhook_missing', { gate: { ...gate, webhookOk: false }, owner: 'mer_2' }],
    ['wallet_of_another_merchant', { owner: 'mer_2', free_units: null }],
    ['wallet_of_another_merchant', { owner: 'mer_2', is_proven: true }, { walletBinding: false }],
    ['slot_taken', { free_units: null }],
    ['undecided', { free_units: 0n }],
    ['created', { owner: 'mer_1', is_proven: true }],
    ['created', { owner: 'mer_2' }, { walletBinding: false }],
  ])('or not: %s', (expected, change, options = {}) => {
    expect(outcome(change, options)).toBe(expected);
  });
});

describe('a saved reply comes first', () => {
  const body = Buffer.from('{"first":true}');
  const { fingerprint, equal_fingerprint } = fingerprintsOf(creation, TTL);

  test('and is answered to the byte, whatever has changed since', () => {
    const reply = { fingerprint, equal_fingerprint, body };
    expect(decide(creation, { ...known, gate: null, owner: 'mer_2', reply }, rules)).toEqual({
      outcome: 'replayed',
      body,
    });
  });

  test('also to another request', () => {
    const other = { fingerprint: Buffer.alloc(32), equal_fingerprint, body };
    expect(outcome({ reply: other })).toBe('key_conflict');
  });
});

describe('a payment', () => {
  test('waits from now on, or from a millisecond after the newest of its slot when the clock was set back a little', () => {
    const at = (milliseconds: number) => new Date(clock.getTime() + milliseconds);
    expect(written().payment).toMatchObject({ created_at: clock, expires_at: at(1_800_000) });
    expect(written({ newest_at: at(150_000) }).payment).toMatchObject({ created_at: at(150_001) });
    expect(written({ newest_at: at(150_001) }).payment).toMatchObject({ created_at: clock });
    expect(written({}, { expires_in: 60 }).payment).toMatchObject({ expires_at: at(60_000) });
  });

  test.each([
    [10_500_100n, '10.5001'],
    [10_510_000n, '10.5100'],
    [11_000_000n, '11.0000'],
    [10_500_101n, '10.500101'],
    [10_500_110n, '10.500110'],
  ])('with a unique amount of %s units asks for %s', (units, amount) => {
    const { payment, reply } = written({ free_units: units }, { unique_amount: true });
    expect(payment).toMatchObject({ amount, amount_units: units, requested_amount: '10.50' });
    expect(reply).toMatchObject({ amount, requested_amount: '10.50' });
  });

  test('keeps the merchant’s own text of its amount', () => {
    expect(written().payment).toMatchObject({ amount: '10.50', requested_amount: null });
    expect(written().reply).toMatchObject({ amount: '10.50', requested_amount: '10.50', metadata: {} });
  });

  test('binds its wallet when it has no owner', () => {
    expect(written().binds_wallet).toBe(true);
    expect(written({ owner: 'mer_1' }).binds_wallet).toBe(false);
  });
});
