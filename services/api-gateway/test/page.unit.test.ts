import { describe, expect, test } from '@jest/globals';
import type { PaymentStatus, PublicPayment } from '@quittance/contracts/payment.ts';
import fc from 'fast-check';
import { assets } from '../src/checkout/assets.ts';
import { notFoundPage, paymentPage, unavailablePage } from '../src/checkout/page.ts';
import { WALLET } from './fake-request.ts';

const payment: PublicPayment = {
  status: 'PENDING',
  amount: '10.50',
  currency: 'USDT',
  network: 'local',
  merchant_wallet: WALLET,
  description: 'Order 7',
  expires_at: '2026-01-31T09:00:00.000Z',
};

describe('the checkout page', () => {
  test('shows what the public status says', () => {
    const page = paymentPage(payment, null);
    for (const text of ['10.50 USDT', 'local', WALLET, 'Order 7', '2026-01-31 09:00 UTC']) expect(page).toContain(text);
  });

  test.each<[PaymentStatus, boolean]>([
    ['PENDING', true],
    ['CHECKING', true],
    ['PAID', false],
    ['EXPIRED', false],
    ['CANCELLED', false],
  ])('for %s it is kept current, with or without script: %s', (status, isKeptCurrent) => {
    const page = paymentPage({ ...payment, status }, null);
    expect(page.includes(assets.script.name)).toBe(isKeptCurrent);
    expect(page.includes('http-equiv="refresh"')).toBe(isKeptCurrent);
  });

  test('links the transaction once there is one and an explorer is known', () => {
    const paid: PublicPayment = { ...payment, status: 'PAID', transaction_id: 'ab'.repeat(32) };
    expect(paymentPage(paid, 'https://explorer.example/tx/{transaction_id}')).toContain(
      `href="https://explorer.example/tx/${'ab'.repeat(32)}"`,
    );
    expect(paymentPage(paid, null)).not.toContain('href="https://');
  });

  test('no description becomes markup', () => {
    const markup = (page: string) => page.replace(/[^<>"']/g, '');
    const plain = markup(paymentPage(payment, null));
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', '</dd><script>', '"><img onerror=', "'"),
        (a, b) => {
          expect(markup(paymentPage({ ...payment, description: a + b }, null))).toBe(plain);
        },
      ),
    );
  });

  test('nothing in any page needs an exception from a policy without inline code', () => {
    for (const page of [paymentPage(payment, null), notFoundPage(), unavailablePage()]) {
      expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);
    }
  });

  test('asset names change with their content', () => {
    for (const { name } of Object.values(assets)) expect(name).toMatch(/^checkout\.[0-9a-f]{16}\.(js|css)$/);
  });
});
