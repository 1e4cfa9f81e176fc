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

    rule('errors.422', 'names the body when it is not sent as application/json, or compressed', async () => {
      const text = JSON.stringify(valid());
      const types = [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/jsonx',
      ];
      const wrong = [...types, 'application/json; charset=utf-16', 'json', '', '*/*', 'text/json, application/json'];
      const zipped = gzipSync(text);
      const sent = () => ({ 'Idempotency-Key': 'order-7' });
      const bare = () => merchant.call('POST', '/api/v1/payments', { headers: sent(), body: text });
      const cases = [
        ...wrong.map((type) => [`type ${type}`, () => postText(text, { 'Content-Type': type })] as const),
        ['no type', bare] as const,
        ['gzip', () => postText(zipped, { 'Content-Encoding': 'gzip' })] as const,
        ['gzip, unsaid', () => postText(zipped)] as const,
        ['declared, but not compressed', () => postText(text, { 'Content-Encoding': 'br' })] as const,
      ];
      expect(await refusals(Object.fromEntries(cases))).toEqual(
        Object.fromEntries(cases.map(([name]) => [name, ['body']])),
      );
      const accepted = ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'];
      const answers = accepted.map((type, index) =>
        merchant.call('POST', '/api/v1/payments', {
          headers: { 'Idempotency-Key': `typed-${index}`, 'Content-Type': type },
          body: JSON.stringify({ ...valid(), amount: `9.${index + 1}` }),
        }),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 201]);
    });
  });
}
