import { beforeAll, describe, expect } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import type { Contract } from '../conformance.test.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { creationsOf, refusals } from '../support/refusals.ts';
import { rule } from '../support/rule.ts';

/** Bodies from which no field can be read. */
export function unreadableBodiesSection(contract: Contract): void {
  describe('a creation with an unreadable body', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const { valid, postText } = creationsOf(() => merchant);

    rule(['errors.422', 'service.paths'], 'names the body when it is not a JSON object in plain UTF-8', async () => {
      const text = JSON.stringify(valid());
      const bodies: Record<string, string | Buffer> = {
        ...{
          empty: '',
          open: '{"amount":',
          trailing: `${text}x`,
          twice: text + text,
          comment: `/**/${text}`,
          single: "{'a':1}",
        },
        ...{
          NaN: '{"amount":NaN}',
          comma: '{"amount":"1",}',
          array: `[${text}]`,
          null: 'null',
          text: '"x"',
          number: '1e999',
        },
        nested: '['.repeat(60_000),
        'nested and closed': '['.repeat(10_000) + ']'.repeat(10_000),
        control: '{"amount":"1\u0000"}',
        'UTF-16': Buffer.from(text, 'utf16le'),
        'broken UTF-8': Buffer.from([...Buffer.from('{"amount":"'), 0xff, ...Buffer.from('"}')]),
        'cut UTF-8': Buffer.concat([Buffer.from('{"a":"'), Buffer.from('é').subarray(0, 1), Buffer.from('"}')]),
        'overlong UTF-8': Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
      };
      const cases = Object.entries(bodies).map(([name, body]) => [name, () => postText(body)] as const);
      expect(await refusals(Object.fromEntries(cases))).toEqual(
        Object.fromEntries(cases.map(([name]) => [name, ['body']])),
      );
    });

    rule('errors.422', 'is 422 when the body is deep, wide or odd', async () => {
      const bodies = {
        'objects in objects': '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000),
        'thousands of fields': `{${Array.from({ length: 4_000 }, (_, index) => `"f${index}":1`).join(',')}}`,
        'one field thousands of times': `{${Array.from({ length: 4_000 }, () => '"amount":"1"').join(',')}}`,
        'a number of 60,000 digits': `{"amount":${'9'.repeat(60_000)}}`,
        'a byte order mark': '\ufeff{"amount":"1"}',
        'an exponent': '{"amount":1e999999}',
        'a prototype': '{"__proto__":{"amount":"1"},"constructor":{"prototype":{}}}',
        'half a character': '{"amount":"1","description":"\\ud800"}',
        'an escaped NUL': '{"amount":"1\\u0000"}',
      };
      for (const [name, body] of Object.entries(bodies))
        expect([name, (await postText(body)).status]).toEqual([name, 422]);
    });

    rule('errors.422', 'names the body when it is not sent as application/json, or compressed', async () => {
      const text = JSON.stringify(valid());
      const types = [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonx',
      ];
      const wrong = [...types, 'json', '', '*/*', 'text/json, application/json'];
      const zipped = gzipSync(text);
      const bomb = gzipSync(Buffer.alloc(30_000_000, ' '));
      const sent = () => ({ 'Idempotency-Key': 'order-7' });
      const bare = () => merchant.call('POST', '/api/v1/payments', { headers: sent(), body: text });
      const cases = [
        ...wrong.map((type) => [`type ${type}`, () => postText(text, { 'Content-Type': type })] as const),
        ['no type', bare] as const,
        ['gzip', () => postText(zipped, { 'Content-Encoding': 'gzip' })] as const,
        ...['gzip', 'deflate', 'br', 'x-gzip', 'gzip, gzip'].map(
          (coding) => [`bomb with ${coding}`, () => postText(bomb, { 'Content-Encoding': coding })] as const,
        ),
        ['gzip, undeclared', () => postText(zipped)] as const,
        ['declared, not compressed', () => postText(text, { 'Content-Encoding': 'br' })] as const,
      ];
      expect(await refusals(Object.fromEntries(cases))).toEqual(
        Object.fromEntries(cases.map(([name]) => [name, ['body']])),
      );
      const parameters = ['; charset=utf-8', ';charset="UTF-8"', '; charset=utf-16', '; profile="a;b"; version=1', ';'];
      const accepted = parameters.map((parameter) => `Application/JSON${parameter}`);
      const answers = accepted.map((type, index) =>
        merchant.call('POST', '/api/v1/payments', {
          headers: { 'Idempotency-Key': `typed-${index}`, 'Content-Type': type },
          body: JSON.stringify({ ...valid(), amount: `9.${index + 1}` }),
        }),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(parameters.map(() => 201));
    });
  });
}
