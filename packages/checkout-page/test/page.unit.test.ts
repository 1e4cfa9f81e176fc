import { describe, expect, test } from '@jest/globals';
import type { Network } from '@quittance/contracts/networks.ts';
import type { PaymentStatus, PublicPayment, CheckoutPayment } from '@quittance/contracts/payment.ts';
import fc from 'fast-check';
import { assets } from '../src/document.ts';
import type { PageChoices } from '../src/document.ts';
import { chooseLanguage, languages } from '../src/languages.ts';
import { notFoundPage, paymentPage, unavailablePage } from '../src/page.ts';
import { checkoutOf } from '@quittance/testkit/sample-checkout.ts';
import { evmNetwork, WALLET } from '@quittance/testkit/sample-networks.ts';

const payment: PublicPayment = {
  status: 'PENDING',
  amount: '1234.50',
  currency: 'USDT',
  network: 'local',
  merchant_wallet: WALLET,
  description: 'Order 7',
  expires_at: '2026-01-31T09:00:00.000Z',
};
const network: Network = { ...evmNetwork, name: 'Tron', token_standard: 'TRC20' };
const english: PageChoices = { language: chooseLanguage({}), chosenLanguage: null, qr: 'recipient' };

type Shown = Partial<PublicPayment> & Partial<Pick<CheckoutPayment, 'confirmations' | 'server_time'>>;
function show(
  { confirmations = null, server_time = '2026-01-31T08:30:55.400Z', ...changes }: Shown = {},
  choices = english,
) {
  const view = checkoutOf({ ...payment, ...changes }, { confirmations, server_time });
  return paymentPage({ view, networks: [network], shopName: null }, choices);
}
const paid = { status: 'PAID' } as const;
const textOf = (page: string) => page.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ');

describe('the checkout page', () => {
  test('says how much of what to send where, until when, and what for', () => {
    const text = textOf(show());
    for (const part of ['1234.50 USDT', 'USDT on Tron (TRC20)', WALLET, 'Order 7', '29:05', 'UTC']) {
      expect(text).toContain(part);
    }
  });

  test('offers to copy exactly what the API has', () => {
    const copied = [...show().matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => text);
    expect(copied).toEqual(['1234.50', WALLET]);
  });

  test.each<[PaymentStatus, string, string, string]>([
    ['PENDING', '2026-01-31T08:59:59.999Z', 'waiting', 'kept current'],
    ['PENDING', '2026-01-31T09:00:00.000Z', 'over', 'kept current'],
    ['CHECKING', '2026-01-31T09:00:01.000Z', 'seen', 'kept current'],
    ['PAID', '2026-01-31T08:00:00.000Z', 'paid', 'left alone'],
    ['EXPIRED', '2026-01-31T09:00:01.000Z', 'expired', 'left alone'],
    ['CANCELLED', '2026-01-31T08:00:00.000Z', 'cancelled', 'left alone'],
  ])('%s at %s is shown as %s and %s', (status, now, state, kept) => {
    const page = show({ status, server_time: now });
    expect(page).toContain(`data-state="${state}"`);
    expect(page).toContain(`data-status="${status}"`);
    expect(page).toContain(english.language.texts[state as 'waiting'].title);
    expect(page.includes(assets.script.name)).toBe(kept === 'kept current');
    expect(page.includes('http-equiv="refresh"')).toBe(kept === 'kept current');
  });

  test('invites to pay only while it waits', () => {
    expect(show()).toContain('class="qr"');
    for (const view of [
      { server_time: payment.expires_at },
      { status: 'CHECKING' },
      paid,
      { status: 'EXPIRED' },
    ] as const) {
      expect(show(view)).not.toMatch(/class="qr"|data-copy="|wallet-link|role="timer"/);
    }
  });

  test('has the words for the end of its time with it, in which nothing invites to pay', () => {
    const [, template = ''] = /<template[^>]*>(.*)<\/template/s.exec(show()) ?? [];
    expect(template).toContain('data-state="over"');
    expect(template).toContain(english.language.texts.over.text);
    expect(template).not.toMatch(/class="qr"|data-copy="|wallet-link|role="timer"|<template/);
    expect(show({ server_time: payment.expires_at })).not.toContain('<template');
  });

  test('tells how far the transfer has come, and what is missing when all confirmations are there', () => {
    const seen = (confirmations: { seen: number; required: number }) => show({ status: 'CHECKING', confirmations });
    expect(textOf(seen({ seen: 3, required: 12 }))).toContain('Confirmations: 3 of 12');
    expect(seen({ seen: 3, required: 12 })).toContain('<progress value="3" max="12"');
    const { awaitingFinality } = english.language.texts;
    expect(seen({ seen: 11, required: 12 })).not.toContain(awaitingFinality);
    expect(seen({ seen: 12, required: 12 })).toContain(awaitingFinality);
  });

  test('shows no transaction and no link to one, whatever the network names and payments answers', () => {
    const explorer = { ...network, explorer_transaction_url: 'https://explorer.example/tx/{transaction_id}' };
    const more = { ...payment, ...paid, transaction_id: 'ab'.repeat(32) };
    const view = checkoutOf(more, { server_time: payment.expires_at });
    expect(paymentPage({ view, networks: [explorer], shopName: null }, english)).not.toMatch(/https:|abab/);
  });

  test('is shown for a network that is not configured any more, but asks for no payment on it', () => {
    const view = checkoutOf(payment);
    expect(() => paymentPage({ view, networks: [], shopName: null }, english)).toThrow('local');
    const gone = { ...view, payment: { ...payment, ...paid } };
    expect(textOf(paymentPage({ view: gone, networks: [], shopName: null }, english))).toContain('USDT on local');
  });

  test('keeps what was chosen in its links', () => {
    const choices: PageChoices = { language: chooseLanguage({ lang: 'ar' }), chosenLanguage: 'ar', qr: 'link' };
    const page = show({}, choices);
    expect(page).toMatch(/<html lang="ar" dir="rtl">/);
    expect(page).toContain('href="?lang=fa&amp;qr=link"');
    expect(page).toContain('href="?lang=ar"');
    expect(page).toMatch(/class="wallet-link" href="ethereum:/);
  });

  test('shows the amount as wallets take it wherever the language writes it otherwise', () => {
    for (const language of languages) {
      const page = show({}, { ...english, language });
      expect(page).toContain('data-copy="1234.50"');
      expect(page).toContain(page.includes('class="exact"') ? '<bdi dir="ltr">1234.50</bdi>' : '>1234.50</span>');
    }
    const german = { ...english, language: chooseLanguage({ lang: 'de' }) };
    expect(show({}, german)).toContain('class="exact"');
    expect(show({ amount: '7' }, german)).not.toContain('class="exact"');
  });

  test('no description becomes markup', () => {
    const markup = (page: string) => page.replace(/[^<>"']/g, '');
    const plain = markup(show());
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', '</bdi></dd><script>', '"><img onerror=', "'"),
        (a, b) => {
          expect(markup(show({ description: a + b }))).toBe(plain);
        },
      ),
    );
  });

  test('nothing in any page needs an exception from a policy without inline code', () => {
    const pages = [
      show(),
      show(paid),
      show({}, { ...english, qr: 'link' }),
      notFoundPage(english),
      unavailablePage(english),
    ];
    for (const page of pages) expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);
  });

  test('asset names change with their content', () => {
    for (const { name } of Object.values(assets)) expect(name).toMatch(/^checkout\.[0-9a-f]{16}\.(js|css)$/);
  });
});
