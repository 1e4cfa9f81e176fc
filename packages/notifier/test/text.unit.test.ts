import { expect, test } from '@jest/globals';
import { languages } from '@quittance/checkout-page/languages.ts';
import { noticeLanguages } from '@quittance/contracts/http/notifier.ts';
import type { WebhookEvent } from '@quittance/sdk';
import { contentOf, messageOf, type Content } from '../src/notices/text.ts';
import { texts } from '../src/notices/texts.ts';

const options = { language: 'en', consoleUrl: 'https://console.example' };
const content: Content = {
  ...{ kind: 'paid', amount: '49.90', payment_id: `pay_${'a'.repeat(32)}` },
  ...{ order_id: 'A-7', description: 'Two coffees ☕' },
};
const event = {
  ...{ event_id: 'evt_1', payment_id: 'pay_1', status: 'PAID', expected_amount: '49.90', description: 'Tea' },
  ...{ transaction_id: 'ab', transaction_event_index: 0 },
};
const given = (fields: object) => contentOf({ ...event, ...fields } as unknown as WebhookEvent);

test('notices are written in every language of the checkout page', () => {
  const codes = languages.map(({ code }) => code);
  expect(noticeLanguages).toEqual(codes);
  expect(Object.keys(texts)).toEqual(codes);
});

test.each(languages.map(({ code }) => code))(
  'every text in %s is there, and names the amount where it belongs',
  (code) => {
    const { paid, unmatched, ...others } = texts[code]!;
    for (const text of [paid, unmatched]) expect(text.match(/\{\w+\}/g)).toEqual(['{amount}']);
    for (const text of Object.values(others)) expect(text).toMatch(/^[^{}]+$/);
    const other = code === 'en' ? [] : Object.values(texts.en);
    for (const text of [paid, unmatched, others.look, others.test]) expect(other).not.toContain(text);
  },
);

test('a notice says what was paid, for which order, and where to look', () => {
  expect(messageOf('evt_1', content, options)).toEqual({
    id: 'evt_1',
    subject: 'Paid: 49.90 USDT',
    text: `Order: A-7\nDescription: Two coffees ☕\nhttps://console.example/my/payments/${content.payment_id}`,
  });
  expect(messageOf('evt_1', content, { ...options, language: 'de' }).subject).toBe('Bezahlt: 49,90 USDT');
  const bare = { ...content, order_id: null, description: null, payment_id: null, kind: 'unmatched' } as const;
  expect(messageOf('evt_1', bare, options).text).toBe(`${texts.en.look}\nhttps://console.example/my/payments`);
  expect(messageOf('evt_1', bare, { ...options, consoleUrl: '' }).text).toBe(texts.en.look);
});

test('no text of a merchant or customer begins a line, and an amount that is none is left out', () => {
  const hostile = {
    ...content,
    description: 'x\r\nBcc: a@b.example\u2028y',
    amount: '1\r\nSubject: z',
    order_id: '$& {amount}',
  };
  const { subject, text } = messageOf('evt_1', hostile, { ...options, consoleUrl: '' });
  expect(subject).toBe('Paid: USDT');
  expect(text).toBe('Order: $& {amount}\nDescription: x Bcc: a@b.example y');
  expect(messageOf('evt_1', { ...content, description: 'z'.repeat(9_000) }, options).text.length).toBeLessThan(800);
});

test('a notice says what arrived, not what was asked for', () => {
  expect(given({})).toMatchObject({ kind: 'paid', amount: '49.90', order_id: null, description: 'Tea' });
  expect(given({ received_amount: '50.00' })).toMatchObject({ amount: '50.00' });
  expect(given({ accepted: true, transfer: { amount: '48.00' } })).toMatchObject({ amount: '48.00' });
  const unmatched = { event_type: 'transfer.unmatched', status: 'UNMATCHED', payment_id: null, expected_amount: null };
  expect(given({ ...unmatched, transfer: { amount: '7' } })).toMatchObject({ kind: 'unmatched', amount: '7' });
  expect(given({ event_type: 'test', status: 'TEST' })).toMatchObject({ kind: 'test', description: null });
});

test.each(['CHECKING', 'EXPIRED', 'CANCELLED', 'ELSE'])('an event with the status %s is no notice', (status) => {
  expect(given({ status })).toBeNull();
});
