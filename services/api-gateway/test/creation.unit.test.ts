import { describe, expect, test } from '@jest/globals';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { anyText } from '@quittance/testkit/any-text.ts';
import fc from 'fast-check';
import { readCreation } from '../src/payments/creation.ts';
import {
  evmNetwork,
  networks,
  otherEvmNetwork,
  USDT_ON_EVM,
  USDT_ON_TRON,
  WALLET,
  WALLET_LOWER,
} from '@quittance/testkit/sample-networks.ts';
import { creationRequest, fakeRequest, refusal, refusedFields } from './fake-request.ts';

const rules = { networks, expiresIn: { min: 300, max: 86_400 }, localReturnUrls: false };
const valid = { amount: '10.50', merchant_wallet: WALLET_LOWER, description: 'Order 7' };
const read = (body: unknown, headers?: Record<string, string>) => readCreation(creationRequest(body, headers), rules);
const fields = async (body: unknown, headers?: Record<string, string>) =>
  (await refusedFields(() => read(body, headers))).map(({ field }) => field).sort();

describe('a valid creation', () => {
  test('keeps the amount as sent and stores the wallet in its canonical spelling', async () => {
    await expect(read(valid)).resolves.toEqual({
      idempotency_key: 'order-1',
      amount: '10.50',
      merchant_wallet: WALLET,
      description: 'Order 7',
      network: 'local',
    });
  });

  test('has its description in Unicode NFC', async () => {
    await expect(read({ ...valid, description: 'Cafe\u0301' })).resolves.toMatchObject({ description: 'Café' });
  });

  test('gets its network from the family of the address, or names one that fits', async () => {
    const tronWallet = addressFromHex('tron', `0x${'22'.repeat(20)}`);
    await expect(read({ ...valid, merchant_wallet: tronWallet })).resolves.toMatchObject({ network: 'tron' });
    await expect(read({ ...valid, network: 'other' })).resolves.toMatchObject({ network: 'other' });
  });

  test('may say charset=utf-8', async () => {
    await expect(read(valid, { 'content-type': 'Application/JSON; Charset="UTF-8"' })).resolves.toBeDefined();
  });
});

describe('a refused creation', () => {
  test('names every invalid field at once', async () => {
    const body = { amount: '1e3', merchant_wallet: '0x12', description: '', network: 'nowhere', note: 1, __proto: 2 };
    expect(await fields(body, { 'idempotency-key': 'two words' })).toEqual(
      ['Idempotency-Key', '__proto', 'amount', 'description', 'merchant_wallet', 'network', 'note'].sort(),
    );
    expect(await fields({})).toEqual(['amount', 'description', 'merchant_wallet']);
  });

  test('names the missing fields first, however many unknown ones there are', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, 1]));
    const named = async (body: object) => (await refusedFields(() => read(body))).map(({ field }) => field);
    expect((await named(unknown)).slice(0, 4)).toEqual(['amount', 'merchant_wallet', 'description', 'f0']);
    expect((await named({ ...unknown, wallet_pool: 'main' })).slice(0, 3)).toEqual(['amount', 'description', 'f0']);
  });

  test('names the missing Idempotency-Key together with the problems of the body', async () => {
    const request = fakeRequest({ headers: { 'content-type': 'application/json' }, body: '[]' });
    const items = await refusedFields(() => readCreation(request, rules));
    expect(items.map(({ field }) => field)).toEqual(['Idempotency-Key', 'body']);
  });

  test.each(['', 'with space', 'käse', 'tab\t', 'x'.repeat(256), 'twice, joined'])(
    'has the Idempotency-Key %j',
    async (key) => {
      expect(await fields(valid, { 'idempotency-key': key })).toEqual(['Idempotency-Key']);
    },
  );

  test.each([
    '0',
    '0.000000',
    '-1',
    '+1',
    '01',
    '1.',
    '.5',
    '1e3',
    '1.0000001',
    '1234567890123',
    '1,5',
    ' 1',
    '1\n',
    '１',
    '0x1',
  ])('has the amount %j', async (amount) => {
    expect(await fields({ ...valid, amount })).toEqual(['amount']);
  });

  test.each([10, true, ['1'], { value: '1' }])('has a field of the wrong type: %j', async (value) => {
    expect(await fields({ amount: value, merchant_wallet: value, description: value, network: value })).toEqual([
      'amount',
      'description',
      'merchant_wallet',
      'network',
    ]);
  });

  test.each([
    ['a broken EIP-55 checksum', WALLET.replace('aA', 'AA')],
    ['the zero address', `0x${'0'.repeat(40)}`],
    ['the zero address of Tron', addressFromHex('tron', `0x${'0'.repeat(40)}`)],
    ['the USDT contract', USDT_ON_EVM],
    ['the USDT contract in lower case', USDT_ON_EVM.toLowerCase()],
    ['the USDT contract on Tron', USDT_ON_TRON],
    ['the USDT contract of another network of the family', otherEvmNetwork.usdt_contract],
    ['a broken base58 checksum', USDT_ON_TRON.replace('6t', '7t')],
    ['no address at all', 'vitalik.eth'],
    ['an address with a space', ` ${WALLET}`],
  ])('has as merchant_wallet %s', async (_, wallet) => {
    expect(await fields({ ...valid, merchant_wallet: wallet })).toEqual(['merchant_wallet']);
  });

  test('has an address of a family without a configured network', async () => {
    const wallet = addressFromHex('tron', `0x${'22'.repeat(20)}`);
    const request = creationRequest({ ...valid, merchant_wallet: wallet });
    const items = await refusedFields(() => readCreation(request, { ...rules, networks: [evmNetwork] }));
    expect(items).toMatchObject([{ field: 'merchant_wallet' }]);
  });

  test('has a network that does not fit its address', async () => {
    expect(await fields({ ...valid, network: 'tron' })).toEqual(['network']);
  });

  test.each([
    'a\u0000b',
    'a\nb',
    'a\u007f',
    'a\u0085',
    '\ud800',
    'pay \u202egnihton',
    'x'.repeat(501),
    '😀'.repeat(501),
    ' ',
    '\u200b',
  ])('has the description %j', async (description) => {
    expect(await fields({ ...valid, description })).toEqual(['description']);
  });

  test('counts the description in characters, not in UTF-16 units', async () => {
    await expect(read({ ...valid, description: '😀'.repeat(500) })).resolves.toBeDefined();
  });

  test.each([
    ['malformed JSON', '{"amount":', {}],
    ['an array', '[]', {}],
    ['null', 'null', {}],
    ['a string', '"x"', {}],
    ['nothing', '', {}],
    ['broken UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), {}],
    ['a deep nest', '['.repeat(60_000), {}],
    ['another content type', JSON.stringify(valid), { 'content-type': 'text/plain' }],
    ['a compressed body', JSON.stringify(valid), { 'content-encoding': 'gzip' }],
  ])('has as body %s', async (_, body, headers) => {
    expect(await fields(body, headers)).toEqual(['body']);
  });

  test('names a field that is given twice, and __proto__ like any unknown field', async () => {
    const { merchant_wallet: wallet } = valid;
    const twice = `{"amount":5,"amount" : "1","merchant_wallet":"${wallet}","description":"\\"amount\\": "}`;
    expect(await fields(twice)).toEqual(['amount']);
    const proto = `{"__proto__":{"amount":"1"},"amount":"1","merchant_wallet":"${wallet}","description":"x"}`;
    expect(await fields(proto)).toEqual(['__proto__']);
  });

  test('is 413 above 64 KiB, even with other problems; exactly 64 KiB is read', async () => {
    const padded = (bytes: number) => JSON.stringify(valid).padEnd(bytes, ' ');
    await expect(read(padded(65_536))).resolves.toBeDefined();
    await expect(refusal(() => read(padded(65_537), { 'idempotency-key': '' }))).resolves.toMatchObject({
      status: 413,
    });
  });

  test('lists a bounded number of unknown fields', async () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, n]));
    expect((await fields(body)).length).toBeLessThanOrEqual(100);
  });
});

describe('the options of a creation', () => {
  const whole = {
    order_id: 'shop 1007/a',
    metadata: { 'a.b-c_1': 'Käse\n', empty: '' },
    return_url: 'https://shop.example:8443/o/1007?x=%20#done',
    expires_in: 900,
    unique_amount: true,
  };

  test('are kept as they were sent', async () => {
    await expect(read({ ...valid, ...whole })).resolves.toMatchObject(whole);
  });

  test('are left out if they have the same meaning as their absence', async () => {
    const absent = await read(valid);
    const defaults = { metadata: {}, unique_amount: false, dedicated_wallet: false, accept_from_percent: 100 };
    await expect(read({ ...valid, ...defaults })).resolves.toEqual(absent);
    const names = [...Object.keys({ ...whole, ...defaults }), 'wallet_pool', 'network'];
    const nulls = Object.fromEntries(names.map((name) => [name, null]));
    await expect(read({ ...valid, ...nulls })).resolves.toEqual(absent);
  });

  test('name a wallet pool instead of a wallet, or say that the payment has its wallet alone', async () => {
    const { merchant_wallet: _, ...withoutWallet } = valid;
    const pooled = { ...withoutWallet, wallet_pool: 'main-1', accept_from_percent: 90 };
    await expect(read(pooled)).resolves.toEqual({ idempotency_key: 'order-1', ...pooled });
    await expect(read({ ...pooled, merchant_wallet: null, network: 'local' })).resolves.toMatchObject({
      network: 'local',
    });
    const alone = { ...valid, dedicated_wallet: true, accept_from_percent: 50 };
    await expect(read(alone)).resolves.toMatchObject({ dedicated_wallet: true, accept_from_percent: 50 });
    expect(await fields({ ...pooled, merchant_wallet: WALLET })).toEqual(['wallet_pool']);
    expect(await fields({ ...pooled, network: 'nowhere' })).toEqual(['network']);
    for (const options of [{ wallet_pool: 'main-1' }, { merchant_wallet: WALLET, dedicated_wallet: true }])
      expect(await fields({ ...withoutWallet, ...options, unique_amount: true })).toHaveLength(1);
    expect(await fields({ ...valid, merchant_wallet: null })).toEqual(['merchant_wallet']);
    expect(await fields({ ...valid, amount: null, note: null })).toEqual(['amount', 'note']);
  });

  const text = (characters: number) => 'x'.repeat(characters);
  const members = (count: number, value = 'x') =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`name${at}`, value]));

  const ofBytes = (bytes: number) => {
    const most = members(8, text(490));
    return { ...most, rest: text(bytes - Buffer.byteLength(JSON.stringify({ ...most, rest: '' }))) };
  };

  test.each<[field: string, values: unknown[]]>([
    ['order_id', ['', text(129), 'a\u00adb', 'a\u200bb', 'a\u202eb', '\ufeff', '\ud800', 'a\tb', 'a\n', 7, ['a']]],
    ['metadata', [[], 'x', { a: 1 }, { a: null }, { a: { b: 'c' } }, { a: text(501) }, { a: '\0' }, { a: '\ud800' }]],
    ['metadata', [{ '': 'x' }, { 'a b': 'x' }, { [text(41)]: 'x' }, { constructor: 'x' }, { prototype: 'x' }]],
    ['metadata', [members(21), members(20, text(300)), ofBytes(4097)]],
    [
      'return_url',
      ['', '/thanks', 'http://shop.example', 'javascript:alert(1)', 'https:shop.example', 'ftp://shop.example'],
    ],
    [
      'return_url',
      ['https://', 'https:///x', 'https://a:b@shop.example', 'https://@shop.example', 'https://shop.example:99999'],
    ],
    [
      'return_url',
      [' https://shop.example', 'https://shop.example/\n', 'https:\\\\shop.example', 'https://shop.example/a b'],
    ],
    ['return_url', ['https://shop.example/\u202egpj', `https://shop.example/${text(2000)}`, 7]],
    ['return_url', ['http://localhost', 'http://127.0.0.1:3000/thanks']],
    ['expires_in', [299, 86_401, 900.5, '900', -1, 0, 1e300]],
    ['unique_amount', ['true', 1]],
    ['wallet_pool', ['', 'Main', 'a_b', text(41), 7]],
    ['dedicated_wallet', ['true', 1]],
    ['accept_from_percent', [49, 101, 90.5, '90', 90]],
  ])('%s is refused by its name: %j', async (field, values) => {
    for (const value of values) expect([value, await fields({ ...valid, [field]: value })]).toEqual([value, [field]]);
  });

  test.each<[field: string, values: unknown[]]>([
    ['order_id', [' ', '~', text(128), 'ö', '😀'.repeat(128), '注文番号 12']],
    ['metadata', [members(20), { a: '😀'.repeat(500) }, members(9, text(430)), ofBytes(4096), { [text(40)]: 'x' }]],
    [
      'return_url',
      ['https://shop.example', 'HTTPS://Shop.example', `https://shop.example/${text(1979)}`, 'https://[::1]/'],
    ],
    ['return_url', ['https://магазин.example/заказ', 'https://localhost', 'https://shop.example/@home']],
    ['expires_in', [300, 86_400, 900.0]],
  ])('%s may be %j', async (field, values) => {
    for (const value of values)
      await expect(read({ ...valid, [field]: value })).resolves.toMatchObject({ [field]: value });
  });

  test('__proto__ in metadata is refused, and a name that is given twice', async () => {
    const withMetadata = (json: string) => JSON.stringify({ ...valid, metadata: 0 }).replace(':0', `:${json}`);
    for (const json of ['{"__proto__":"x"}', '{"a":"1","a":"2"}']) {
      expect(await fields(withMetadata(json))).toEqual(['metadata']);
    }
  });

  test.each(['49.900', '49.901', '1.000001'])(
    'a unique amount needs at most two decimals, unlike %s',
    async (amount) => {
      expect(await fields({ ...valid, amount, unique_amount: true })).toEqual(['unique_amount']);
      await expect(read({ ...valid, amount, unique_amount: false })).resolves.toMatchObject({ amount });
    },
  );

  test.each(['http://localhost', 'http://127.0.0.1:3000/thanks', 'http://LOCALHOST:3000'])(
    'if the checkout is reached by plain HTTP, return_url may be %s, and no other host',
    async (url) => {
      const local = { ...rules, localReturnUrls: true };
      const readLocal = (to: string) => readCreation(creationRequest({ ...valid, return_url: to }), local);
      await expect(readLocal(url)).resolves.toMatchObject({ return_url: url });
      const elsewhere = [
        'http://localhost.example',
        'http://127.0.0.2',
        'http://[::1]',
        'http://localhost@shop.example',
      ];
      for (const other of elsewhere) {
        expect(await refusedFields(() => readLocal(other))).toMatchObject([{ field: 'return_url' }]);
      }
    },
  );
});

describe('for any input', () => {
  test('the answer is a creation or a 422 that names a field', async () => {
    const json = fc.oneof(
      anyText,
      fc.json(),
      fc
        .record(
          {
            amount: fc.oneof(fc.string(), fc.constant('1.5'), fc.jsonValue()),
            merchant_wallet: fc.oneof(fc.string(), fc.constant(WALLET), fc.jsonValue()),
            description: fc.oneof(anyText, fc.jsonValue()),
            network: fc.oneof(fc.constantFrom('local', 'tron', 'toString', '__proto__'), fc.jsonValue()),
            metadata: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.jsonValue()),
            return_url: fc.oneof(fc.webUrl(), anyText, fc.jsonValue()),
            expires_in: fc.jsonValue(),
            price: fc.oneof(
              fc.record({ amount: fc.string(), currency: fc.constantFrom('EUR', 'eur') }),
              fc.jsonValue(),
            ),
          },
          { requiredKeys: [] },
        )
        .map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(json, fc.string(), async (body, key) => {
        const request = creationRequest(body, { 'idempotency-key': key });
        const outcome = await readCreation(request, rules).catch((error: unknown) => error);
        if (typeof outcome === 'object' && outcome !== null && 'idempotency_key' in outcome) return;
        const items = await refusedFields(() => readCreation(request, rules));
        expect(items.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  test('every amount the contract allows is accepted unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^([1-9]\d{0,11})(\.\d{1,6})?$/), async (amount) => {
        await expect(read({ ...valid, amount })).resolves.toMatchObject({ amount });
      }),
      { numRuns: 100 },
    );
  });
});
