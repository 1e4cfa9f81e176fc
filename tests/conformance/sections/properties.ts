import { beforeAll, describe, expect } from '@jest/globals';
import { getAddress, isAddress, ZeroAddress } from 'ethers';
import fc from 'fast-check';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { isVisible } from '@quittance/contracts/visible.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { amountOf, seedOf } from '@quittance/testkit/random-runs.ts';
import { apiAt, openMerchant, type Merchant } from '../../support/merchant.ts';
import {
  addressTexts,
  amountTexts,
  cursorTexts,
  descriptionTexts,
  headerTexts,
  limitTexts,
  momentTexts,
  validAddresses,
  validAmounts,
  validDescriptions,
} from '../support/property-inputs.ts';
import { rule } from '../support/rule.ts';

/** PROPERTY_SEED repeats a run. A failure names the seed, and the smallest failing input. */
const seed = Number(process.env['PROPERTY_SEED'] ?? seedOf(20_261_123));

/** Less than the thirty creations a minute of one merchant. */
const CREATIONS = amountOf({ short: 8, long: 20 });
const CHECKS = amountOf({ short: 20, long: 120 });

/**
 * Properties for any input. Whether a text is accepted is tested without creating anything: together with a field that is certainly
 * invalid, the 422 names the text's field too, or does not. That uses no rate token, so there can be many inputs.
 */
export function propertiesSection(contract: Contract): void {
  describe('for any input', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const valid = () => ({ amount: '1', merchant_wallet: merchant.wallet, description: 'Order 7' });
    /** The fields that the 422 of a creation without Idempotency-Key names, except that header. */
    const refusedIn = async (fields: Record<string, unknown>) => {
      const body = { ...valid(), ...fields };
      return named(await merchant.call('POST', '/api/v1/payments', { body }), 'Idempotency-Key');
    };
    const holds = <T>(inputs: fc.Arbitrary<T>, many: number, check: (input: T) => Promise<void>) =>
      fc.assert(fc.asyncProperty(inputs, check), { numRuns: many, seed });
    const toCreate = async () => {
      const other = await openMerchant(contract.stack);
      // Each payment is cancelled, so that the next one may have the same amount.
      return async (body: Record<string, unknown>) => {
        const payment = await other.created(body);
        await other.call('POST', `/api/v1/payments/${payment.payment_id}/cancel`);
        return payment;
      };
    };

    rule('payment.amount', 'an amount is accepted exactly if it is valid by the contract, and then kept', async () => {
      await holds(amountTexts, CHECKS, async (amount) => {
        expect(await refusedIn({ amount })).toEqual(isAmount(amount) ? [] : ['amount']);
      });
      const create = await toCreate();
      await holds(validAmounts, CREATIONS, async (amount) => {
        expect(await create({ amount })).toMatchObject({ amount });
      });
    });

    rule(
      'payment.merchant_wallet',
      'a wallet is accepted exactly if it is an address, and answered with its checksum',
      async () => {
        await holds(addressTexts, CHECKS, async (text) => {
          const isWallet = text.startsWith('0x') && isAddress(text) && text !== ZeroAddress;
          expect(await refusedIn({ merchant_wallet: text })).toEqual(isWallet ? [] : ['merchant_wallet']);
        });
        const create = await toCreate();
        await holds(validAddresses, CREATIONS, async (text) => {
          expect(await create({ merchant_wallet: text })).toMatchObject({
            merchant_wallet: getAddress(text.toLowerCase()),
          });
        });
      },
    );

    rule(
      'payment.description',
      'a description is accepted exactly if it is displayable text, and answered in NFC',
      async () => {
        await holds(descriptionTexts, CHECKS, async (text) => {
          expect(await refusedIn({ description: text })).toEqual(isDescription(text) ? [] : ['description']);
        });
        const create = await toCreate();
        await holds(validDescriptions.filter(isDescription), CREATIONS, async (text) => {
          const description = text.normalize('NFC');
          const { payment_url: url } = await create({ description });
          const token = url.split('/').at(-1);
          const shown = await apiAt(contract.stack.edge_url)('GET', `/api/v1/payments/${token}`);
          expect(shown.json<Payment>().description).toBe(description);
        });
      },
    );

    rule(
      ['endpoint.create', 'errors.422'],
      'an Idempotency-Key is accepted exactly if it is 1 to 255 visible ASCII characters',
      async () => {
        await holds(headerTexts(260), CHECKS, async (key) => {
          const headers = { 'Idempotency-Key': key };
          const answer = await merchant.call('POST', '/api/v1/payments', {
            headers,
            body: { ...valid(), amount: '-' },
          });
          // HTTP removes spaces from both ends of a value.
          const isKey = /^[!-~]{1,255}$/.test(key.replaceAll(/^[ \t]+|[ \t]+$/g, ''));
          expect(named(answer, 'amount')).toEqual(isKey ? [] : ['Idempotency-Key']);
        });
      },
    );

    rule(
      ['endpoint.page', 'endpoint.list', 'errors.422'],
      'a query parameter is accepted exactly if it is valid',
      async () => {
        const statuses = ['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED'];
        const refusedAs = async (query: Record<string, string>, other: Record<string, string>) => {
          const text = new URLSearchParams({ ...query, ...other }).toString();
          const answer = await merchant.call('GET', `/api/v1/payments/page?${text}`);
          return named(answer, ...Object.keys(other));
        };
        // An empty parameter counts as absent.
        await holds(limitTexts, CHECKS, async (limit) => {
          const isLimit = /^\d{1,3}$/.test(limit) && String(Number(limit)) === limit && +limit >= 1 && +limit <= 100;
          expect(await refusedAs({ limit }, { status: 'x' })).toEqual(isLimit || limit === '' ? [] : ['limit']);
        });
        await holds(
          fc.oneof(fc.constantFrom(...statuses, 'paid', 'PAID '), fc.string()),
          CHECKS / 2,
          async (status) => {
            const isStatus = ['', ...statuses].includes(status);
            expect(await refusedAs({ status }, { limit: '0' })).toEqual(isStatus ? [] : ['status']);
          },
        );
        await holds(momentTexts, CHECKS, async ([text, isMoment]) => {
          const refused = isMoment || text === '' ? [] : ['created_from'];
          expect(await refusedAs({ created_from: text }, { limit: '0' })).toEqual(refused);
        });
      },
    );

    rule(
      ['endpoint.page', 'errors.422'],
      'a cursor from another source is 422 or leads to a page, and to nothing else',
      async () => {
        const reader = await openMerchant(contract.stack);
        await Promise.all(['1', '2', '3'].map((amount) => reader.created({ amount })));
        const page = (cursor: string) => {
          return reader.call('GET', `/api/v1/payments/page?${new URLSearchParams({ limit: '1', cursor }).toString()}`);
        };
        const first = await reader.call('GET', '/api/v1/payments/page?limit=1');
        const cursor = first.json<{ next_cursor: string }>().next_cursor;
        expect(await page(cursor)).toMatchObject({ status: 200 });
        await holds(cursorTexts(cursor), 2 * CHECKS, async (text) => {
          const answer = await page(text);
          if (answer.status === 422) expect(named(answer)).toEqual(['cursor']);
          else expect(answer.json<{ payments: unknown[] }>().payments.length).toBeLessThanOrEqual(1);
        });
      },
    );

    rule('errors.body.1', 'the request id is the caller’s exactly if that is well-formed', async () => {
      const doors = [contract.stack.edge_url, contract.stack.services['api-gateway'].replicas[0]!.url].map(apiAt);
      await holds(headerTexts(70), CHECKS / 2, async (id) => {
        for (const door of doors) {
          const answer = await door('GET', '/api/v1/merchant/limits', { headers: { 'X-Request-ID': id } });
          const sent = id.replaceAll(/^[ \t]+|[ \t]+$/g, '');
          const isOwn = /^[A-Za-z0-9._-]{1,64}$/.test(sent);
          const answered = answer.headers['x-request-id'];
          expect(answered).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
          // For nginx a tab before or after the value is part of it, for Node it is not. An id of our own is correct in both cases.
          if (sent === id.replaceAll(/^ +| +$/g, '')) expect([sent, answered === sent]).toEqual([sent, isOwn]);
        }
      });
    });
  });
}

/** The fields that a 422 names, without those that were invalid on purpose, which it must also name. */
function named(answer: HttpAnswer, ...onPurpose: string[]): string[] {
  if (answer.status !== 422) throw new Error(`was answered ${answer.status} ${answer.text.slice(0, 300)}`);
  const fields = answer.json<{ detail: { field: string }[] }>().detail.map(({ field }) => field);
  expect(fields).toEqual(expect.arrayContaining(onPurpose));
  return fields.filter((field) => !onPurpose.includes(field));
}

/** Written from the contract's text, independently of the program. */
function isAmount(text: string): boolean {
  const [whole = '', fraction, ...more] = text.split('.');
  const isDigits = (digits: string) => /^[0-9]+$/.test(digits);
  if (more.length > 0 || !isDigits(whole) || whole.length > 12) return false;
  if (whole.length > 1 && whole.startsWith('0')) return false;
  if (fraction !== undefined && (!isDigits(fraction) || fraction.length > 6)) return false;
  return /[1-9]/.test(text);
}

/** One to 500 characters in NFC, at least one of them visible, without lone surrogates, control characters or characters that change the order of others. */
function isDescription(text: string): boolean {
  const points = Array.from(text.normalize('NFC'), (character) => character.codePointAt(0) ?? 0);
  const within = (from: number, to: number) => points.some((point) => point >= from && point <= to);
  if (points.length < 1 || points.length > 500 || !isVisible(text)) return false;
  return !(
    within(0, 0x1f) ||
    within(0x7f, 0x9f) ||
    within(0xd800, 0xdfff) ||
    within(0x202a, 0x202e) ||
    within(0x2066, 0x2069)
  );
}
