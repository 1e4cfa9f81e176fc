import { beforeAll, describe, expect } from '@jest/globals';
import { ZeroAddress } from 'ethers';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { creationsOf, fieldsOf, label, refusals } from '../support/refusals.ts';
import { rule } from '../support/rule.ts';

/** Invalid fields of a creation. 422 uses no rate token, so one merchant can send all of these. */
export function validationSection(contract: Contract): void {
  describe('a creation with invalid fields', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const { valid, post, postText, withBody } = creationsOf(() => merchant);
    const json = { 'Content-Type': 'application/json' };
    const each = (field: string, values: readonly unknown[]) =>
      refusals(Object.fromEntries(values.map((value) => [label(value), withBody({ [field]: value })])));
    const all = (values: readonly unknown[], fields: string[]) =>
      Object.fromEntries(values.map((value) => [label(value), fields]));

    rule(
      ['payment.amount', 'errors.422', 'errors.body.3'],
      'names an amount that is not decimal text above zero',
      async () => {
        const amounts = [
          ...'0 0.0 0.000000 -1 +1 01 00.5 1. .5 1e3 1E3 1.0000001 1234567890123 1.5.1 1,5'.split(' '),
          ...'0x1 0b1 NaN Infinity १ １ 1٫5 ½ 1_0 $1'.split(' '),
          ...['', '1 000', ' 1', '1 ', '1\n', '1\u0000', '\ud800'],
          ...[10.5, 1, 0, true, null, ['1'], { value: '1' }, `1.${'0'.repeat(5000)}`],
        ];
        expect(await each('amount', amounts)).toEqual(all(amounts, ['amount']));
      },
    );

    rule(['payment.merchant_wallet', 'errors.422'], 'names a wallet that cannot be paid', async () => {
      const address = newWallet();
      const wallets = [
        ...['', '0x', 'shop.eth', ZeroAddress, wrongChecksum(address), address.slice(0, -1), `${address}0`],
        ...[address.slice(2), ` ${address}`, `${address}\n`, address.replace('0x', '0X'), address.replace(/.$/, 'g')],
        ...[contract.stack.chain.token, contract.stack.chain.token.toLowerCase(), 12, null, [address], { address }],
        // No Tron network is configured here, so Tron addresses are invalid.
        ...[addressFromHex('tron', address), addressFromHex('tron', ZeroAddress), 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
      ];
      expect(await each('merchant_wallet', wallets)).toEqual(all(wallets, ['merchant_wallet']));
    });

    rule(
      ['payment.description', 'errors.422'],
      'names a description that is empty, longer than 500 characters, broken or able to display a text other than its own',
      async () => {
        const texts = [
          ...['', 'x'.repeat(501), '😀'.repeat(501), 'e\u0301'.repeat(501), '\ud800', 'a\udc00b'],
          ...['a\u0000b', 'a\nb', 'a\tb', 'a\u007f', 'a\u0085b', 'pay \u202egnihton\u202c', '\u2066x\u2069', 'x\u202a'],
          ...[7, null, false, ['x'], { text: 'x' }],
        ];
        expect(await each('description', texts)).toEqual(all(texts, ['description']));
      },
    );

    rule('errors.422', 'names a network that does not exist here; the right one is accepted', async () => {
      const networks = ['', 'nowhere', 'tron', 'LOCAL', 'toString', '__proto__', 'constructor', 7, ['local']];
      expect(await each('network', networks)).toEqual(all(networks, ['network']));
      const { network } = contract.stack.chain;
      expect(await merchant.created({ network, amount: '8' })).toMatchObject({ network });
    });

    rule(['errors.422', 'errors.body.3'], 'names every missing field, and every invalid one, all at once', async () => {
      const { amount, merchant_wallet, description } = valid();
      const bad = {
        amount: '1e3',
        merchant_wallet: '0x12',
        description: '',
        network: 'nowhere',
        note: 1,
        constructor: 2,
      };
      const fields = ['amount', 'merchant_wallet', 'description'];
      expect(
        await refusals({
          'no amount': () => post({ body: { merchant_wallet, description } }),
          'no merchant_wallet': () => post({ body: { amount, description } }),
          'no description': () => post({ body: { amount, merchant_wallet } }),
          nothing: () => post({ body: {} }),
          'nothing at all': () => merchant.call('POST', '/api/v1/payments', { headers: json, body: '{}' }),
          'all bad': () => post({ body: bad, headers: { 'Idempotency-Key': 'two words' } }),
        }),
      ).toEqual({
        'no amount': ['amount'],
        'no merchant_wallet': ['merchant_wallet'],
        'no description': ['description'],
        nothing: [...fields].sort(),
        'nothing at all': ['Idempotency-Key', ...fields].sort(),
        'all bad': ['Idempotency-Key', ...Object.keys(bad)].sort(),
      });
    });

    rule('errors.422', 'names unknown fields, and fields that occur twice', async () => {
      const inner = JSON.stringify(valid()).slice(1, -1);
      const surrogate = String.raw`{"\ud800":1,${inner}}`;
      expect(
        await refusals({
          unknown: withBody({ payment_id: 'pay_1', Amount: '1', 'amount ': '1', status: 'PAID' }),
          'a prototype': () => postText(`{"__proto__":{"amount":"1"},${inner}}`),
          'names of its properties': withBody({
            constructor: { prototype: { amount: '1' } },
            toString: 1,
            hasOwnProperty: 1,
          }),
          twice: () => postText(`{"amount":"1",${inner}}`),
          'twice, one escaped': () => postText(String.raw`{"\u0061mount":"10.50",${inner}}`),
          'an empty name': withBody({ '': 1 }),
          'half a character': () => postText(surrogate),
          'ten thousand levels': () => postText(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
        }),
      ).toEqual({
        unknown: ['Amount', 'amount ', 'payment_id', 'status'],
        'a prototype': ['__proto__'],
        'names of its properties': ['constructor', 'hasOwnProperty', 'toString'],
        twice: ['amount'],
        'twice, one escaped': ['amount'],
        'an empty name': [''],
        'half a character': ['\ufffd'],
        'ten thousand levels': ['a', 'amount', 'description', 'merchant_wallet'],
      });
    });

    rule(
      ['errors.422', 'errors.body.3'],
      'names the missing fields however many or long the unknown ones are',
      async () => {
        const many = Array.from({ length: 5_000 }, (_, index) => index);
        const bodies = [
          many.map((index) => `"f${index}":1`).join(','),
          many.map((index) => `"f${index % 2_000}":1`).join(','),
          many.map(() => '"f":1').join(','),
          `"${'f'.repeat(60_000)}":1`,
          `"${'f'.repeat(30_000)}":1,"${'f'.repeat(30_000)}":1`,
        ];
        for (const answer of await Promise.all(bodies.map((fields) => postText(`{${fields}}`)))) {
          expect(fieldsOf(answer)).toEqual(expect.arrayContaining(['amount', 'merchant_wallet', 'description']));
          expect(answer.text.length).toBeLessThan(32 * 1024);
        }
      },
    );

    rule(
      ['errors.422', 'endpoint.create'],
      'names the Idempotency-Key unless it is 1 to 255 visible ASCII characters',
      async () => {
        const keys = ['', 'x'.repeat(256), 'two words', 'tab\there', 'käse', '\u00a0'];
        const withKey = (key: string | string[]) => () => post({ body: valid(), headers: { 'Idempotency-Key': key } });
        const cases = [
          ...keys.map((key) => [label(key), withKey(key)] as const),
          ['twice', withKey(['a', 'b'])] as const,
          ['twice the same', withKey(['a', 'a'])] as const,
          ['missing', () => merchant.call('POST', '/api/v1/payments', { body: valid() })] as const,
        ];
        expect(await refusals(Object.fromEntries(cases))).toEqual(
          Object.fromEntries(cases.map(([name]) => [name, ['Idempotency-Key']])),
        );
        const allowed = ['!', '~', 'x'.repeat(255), '"{}\\;,=?', '__proto__'];
        const answers = allowed.map((key, index) => merchant.create({ amount: `6.${index + 1}` }, key));
        expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(allowed.map(() => 201));
      },
    );
  });
}

/** Changes the case of one letter of the address: valid hex, wrong EIP-55 checksum. */
function wrongChecksum(address: string): string {
  const at = address.search(/[a-fA-F]/);
  const letter = address[at] ?? '';
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return address.slice(0, at) + other + address.slice(at + 1);
}
