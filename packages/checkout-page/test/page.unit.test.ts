import { describe, expect, test } from '@jest/globals';
import type { Network } from '@quittance/contracts/networks.ts';
import { type PaymentStatus, type PublicPayment } from '@quittance/contracts/api/payment.ts';
import {
  checkoutLookupOutcomes,
  type CheckoutLookup,
  type CheckoutPayment,
} from '@quittance/contracts/api/checkout.ts';
import { anyText } from '@quittance/testkit/any-text.ts';
import fc from 'fast-check';
import { assets, type PageChoices } from '../src/document.ts';
import { chooseLanguage, languages } from '../src/languages.ts';
import { nobody } from '../src/shop.ts';
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
const english: PageChoices = { language: chooseLanguage({}), chosenLanguage: null, qr: null };

type Shown = { payment?: Partial<PublicPayment>; shopName?: string | null } & Partial<Omit<CheckoutPayment, 'payment'>>;
function page({ payment: changes, shopName = null, ...others }: Shown = {}, choices = english, networks = [network]) {
  const beside = { server_time: '2026-01-31T08:30:55.400Z', reference: 'K7QMX2RD', ...others };
  return paymentPage(
    { view: checkoutOf({ ...payment, ...changes }, beside), networks, shop: { ...nobody, name: shopName } },
    choices,
  );
}
/** The page of a payment with such fields. */
function show(changes: Partial<PublicPayment> & Partial<Omit<CheckoutPayment, 'payment'>> = {}, choices = english) {
  const { confirmations = null, server_time = '2026-01-31T08:30:55.400Z', ...payment } = changes;
  return page({ payment, confirmations, server_time }, choices);
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
    ['PAID', '2026-01-31T08:00:00.000Z', 'paid', 'printed'],
    ['EXPIRED', '2026-01-31T09:00:01.000Z', 'expired', 'left alone'],
    ['CANCELLED', '2026-01-31T08:00:00.000Z', 'cancelled', 'left alone'],
  ])('%s at %s is shown as %s and %s', (status, now, state, kept) => {
    const page = show({ status, server_time: now });
    expect(page).toContain(`data-state="${state}"`);
    expect(page).toContain(`data-status="${status}"`);
    expect(page).toContain(english.language.texts[state as 'waiting'].title);
    expect(page.includes(assets.script.name)).toBe(kept !== 'left alone');
    expect(page.includes('http-equiv="refresh"')).toBe(kept === 'kept current');
  });

  test('names who is paid, and nobody where the shop has no name', () => {
    for (const status of ['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED'] as const) {
      const text = textOf(page({ payment: { status }, shopName: 'Čajovna' }));
      expect(text).toContain(`${english.language.texts.payee} Čajovna`);
      expect(textOf(page({ payment: { status } }))).not.toContain(english.language.texts.payee);
      expect(text).toContain('K7QMX2RD');
    }
  });

  test('leads back to the shop in every state, and nowhere but to the web', () => {
    const back = 'href="https://shop.example/?a=1&amp;b=2" rel="noopener noreferrer" referrerpolicy="no-referrer"';
    for (const status of ['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED'] as const)
      expect(page({ payment: { status }, return_url: 'https://shop.example/?a=1&b=2' })).toContain(back);
    expect(page({ return_url: 'http://localhost:8080/' })).toContain('href="http://localhost:8080/"');
    for (const url of ['javascript:alert(1)', 'data:text/html,x', '//shop.example', ''])
      expect(page({ payment: paid, return_url: url })).not.toContain('class="back"');
  });

  test('marks the digits that people drop, and says why they count', () => {
    const unique = show({ amount: '49.9037' });
    expect(unique).toContain('49.90<b class="last-digits">37</b>');
    expect(textOf(unique)).toContain('Include the last digits, 37.');
    expect(unique).toContain('data-copy="49.9037"');
    for (const amount of ['49.90', '49.9000', '49', '7.5']) expect(show({ amount })).not.toContain('last-digits');
  });

  test('has a link for wallets beside the amount, and says what the wallet fills in', () => {
    expect(show()).toMatch(/class="wallet-link" href="ethereum:/);
    expect(show()).toContain(english.language.texts.fillsAll);
    const tron = page({ payment: { network: 'tron' } }, english, [{ ...network, id: 'tron', family: 'tron' }]);
    expect(textOf(tron)).toContain('The app fills in the address. Choose USDT');
  });

  describe('where money has arrived that may be for this payment', () => {
    const arrived = { amount: '1233.50' };

    test('says so first, with whom to ask, and still lets those pay whose money it is not', () => {
      const shown = page({ arrived, shopName: 'Čajovna' });
      expect(shown).toContain('data-state="arrived"');
      expect(textOf(shown)).toMatch(
        /1233.50 USDT has arrived at this address If it was you, do not pay again. Contact Čajovna and give them this reference: K7QMX2RD Received 1233.50 USDT Requested 1234.50 USDT/,
      );
      expect(shown).toContain('<title>1233.50 USDT has arrived at this address</title>');
      const [, unsent = ''] = /<details>(.*?)<\/details>/s.exec(shown) ?? [];
      expect(unsent).toContain('class="qr"');
      expect(shown.replace(unsent, '')).not.toMatch(/class="qr"|data-copy="|wallet-link|role="timer"|Send exactly/);
      // The end of its time keeps the notice.
      const [, template = ''] = /<template[^>]*>(.*)<\/template/s.exec(shown) ?? [];
      expect(textOf(template)).toMatch(/has arrived at this address If it was you.* The time to pay has ended/);
    });

    test.each([
      ['PENDING', payment.expires_at, 'The time to pay has ended', 'reload'],
      ['EXPIRED', payment.expires_at, 'This payment has expired', 'left alone'],
      ['CANCELLED', '2026-01-31T08:40:00.000Z', 'This payment was cancelled', 'left alone'],
    ] as const)('says so of a %s payment at %s, and then how it stands', (status, server_time, stands, kept) => {
      const shown = page({ arrived, payment: { status }, server_time });
      expect(textOf(shown)).toMatch(
        new RegExp(
          `1233.50 USDT has arrived at this address If it was you, do not pay again. Contact the shop and give them this reference: K7QMX2RD ${stands}`,
        ),
      );
      expect(shown).not.toMatch(/class="qr"|data-copy="|wallet-link|role="timer"|<template/);
      expect(shown.includes('http-equiv="refresh"')).toBe(kept === 'reload');
    });

    test('says so in every language, in the words of its own, before anything that asks to pay', () => {
      for (const language of languages) {
        const shown = page({ arrived: { amount: '12' }, shopName: 'Teehaus' }, { ...english, language });
        const text = textOf(shown.slice(shown.indexOf('<main')));
        const [before = '', after = ''] = language.texts.arrived.title.split('{amount}');
        const place = text.indexOf(language.texts.arrived.text);
        expect([language.code, place > 0 && place < text.indexOf(language.texts.sendExactly)]).toEqual([
          language.code,
          true,
        ]);
        expect(text.slice(0, place)).toMatch(new RegExp(`^ ${before}[\\d۰-۹]+ USDT${after} $`));
        expect(text).toContain('Teehaus');
      }
    });

    test('is silent about it once a transfer pays', () => {
      for (const status of ['CHECKING', 'PAID'] as const)
        expect(page({ arrived, payment: { status } })).not.toContain('1233.50');
    });

    test('shows however many decimals the token has', () => {
      expect(textOf(page({ arrived: { amount: '9.000000000000000001' } }))).toContain('9.000000000000000001 USDT has');
    });
  });

  describe('warned by payments', () => {
    test.each(['2026-01-31T08:30:55.400Z', payment.expires_at])(
      'says at %s that the address is frozen, whom to ask, and nothing that asks to pay',
      (server_time) => {
        const shown = page({ arrived: null, warnings: ['wallet_blacklisted'], server_time });
        expect(shown).toContain('data-state="frozen"');
        expect(textOf(shown)).toMatch(/This address is frozen .* Do not send anything.* Contact the shop .*K7QMX2RD/);
        expect(shown).not.toMatch(/class="qr"|data-copy="|wallet-link|role="timer"|Send exactly|<template/);
        expect(shown).toContain('http-equiv="refresh"');
      },
    );

    test('says of money at a frozen address both, and offers no way to pay', () => {
      const shown = page({ arrived: { amount: '12' }, warnings: ['wallet_blacklisted'] });
      expect(textOf(shown)).toMatch(/12 USDT has arrived at this address If it was you.* This address is frozen/);
      expect(shown).not.toMatch(/class="qr"|data-copy="|wallet-link|Send exactly/);
    });

    test('says above the amount that the network cannot be read, and that nothing is lost', () => {
      const shown = page({ arrived: null, warnings: ['network_unreadable'] });
      expect(shown).toContain('data-state="waiting"');
      expect(textOf(shown)).toMatch(/We cannot read Tron right now.* is not lost.* Do not pay again. Send exactly/);
      expect(textOf(page({ warnings: ['network_unreadable'], payment: paid }))).not.toContain('cannot read');
    });

    test('marks news for the script, and says nothing of it where payments was not asked', () => {
      expect(page({ arrived: null, warnings: [] })).toContain('data-news=""');
      expect(page({ arrived: { amount: '7' }, warnings: ['network_unreadable'] })).toContain(
        'data-news="network_unreadable 7"',
      );
      expect(page()).not.toContain('data-news');
    });
  });

  describe('asked about a transaction', () => {
    const asked: CheckoutLookup = { transaction_id: 'ab'.repeat(32), outcome: 'unknown', amount: null, network: null };

    test.each(checkoutLookupOutcomes)('%s is answered in every language', (outcome) => {
      for (const language of languages)
        expect(page({ lookup: { ...asked, outcome } }, { ...english, language })).toContain(
          language.texts.lookup[outcome],
        );
    });

    test('says what came and on which network, where that is the matter', () => {
      const other: CheckoutLookup = { ...asked, outcome: 'other_network', amount: '5', network: 'other' };
      const networks = [network, { ...network, id: 'other', name: 'Polygon' }];
      expect(textOf(page({ lookup: other }, english, networks))).toMatch(
        /Received 5 USDT Requested 1234.50 USDT Network Polygon/,
      );
      expect(textOf(page({ lookup: other }))).toContain('Network other');
    });

    test('asks again only when its reader does', () => {
      expect(page({ lookup: asked })).not.toMatch(/http-equiv="refresh"|href="[^"]*transaction_id/);
      expect(page({ lookup: asked })).toContain(assets.script.name);
    });

    test('keeps the choices of its reader', () => {
      const choices: PageChoices = { language: chooseLanguage({ lang: 'ar' }), chosenLanguage: 'ar', qr: 'link' };
      expect(page({}, choices)).toContain('name="lang" value="ar"');
      expect(page({}, choices)).toContain('name="qr" value="link"');
      expect(page()).not.toContain('type="hidden"');
    });

    test('is offered wherever money may be missing', () => {
      const offers = (status: PaymentStatus) => page({ payment: { status } }).includes('name="transaction_id"');
      expect(offers('PENDING') && offers('EXPIRED') && offers('CANCELLED')).toBe(true);
      expect(offers('CHECKING')).toBe(false);
    });
  });

  test('has a receipt with the time only for a reader who has named the transaction', () => {
    const paid_at = '2026-01-31T08:31:07.000Z';
    const lookup = {
      transaction_id: 'ab'.repeat(32),
      outcome: 'pays_this_payment',
      amount: null,
      network: null,
    } as const;
    const receiptOf = (text: string) => /<div class="receipt" ?(hidden)?\s*>(.*?)<\/div>/s.exec(text) ?? [];
    const [, hidden, empty = ''] = receiptOf(page({ payment: paid, paid_at }));
    expect([hidden, empty.includes('2026-01-31T08:31')]).toEqual(['hidden', false]);
    const [, shown, known = ''] = receiptOf(page({ payment: paid, paid_at, lookup }));
    expect([shown, textOf(known)]).toEqual([undefined, expect.stringContaining('Paid on Jan 31, 2026, 08:31 UTC')]);
    const other = { ...lookup, outcome: 'not_for_this_payment' } as const;
    expect(page({ payment: paid, paid_at, lookup: other })).not.toContain('08:31');
    expect(page({ payment: { status: 'CHECKING' }, lookup })).not.toContain('class="receipt"');
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
    expect(page({ payment: more }, english, [explorer])).not.toMatch(/https:|abab/);
  });

  test('is shown for a network that is not configured any more, but asks for no payment on it', () => {
    expect(() => page({}, english, [])).toThrow('local');
    expect(textOf(page({ payment: paid }, english, []))).toContain('USDT on local');
  });

  test('keeps what was chosen in its links', () => {
    const choices: PageChoices = { language: chooseLanguage({ lang: 'ar' }), chosenLanguage: 'ar', qr: 'link' };
    const page = show({}, choices);
    expect(page).toMatch(/<html lang="ar" dir="rtl">/);
    expect(page).toContain('href="?lang=fa&amp;qr=link"');
    expect(page).toContain('href="?lang=ar&amp;qr=recipient"');
    expect(page).toMatch(/class="wallet-link" href="ethereum:/);
  });

  test('shows the amount as wallets take it wherever the language writes it otherwise', () => {
    for (const language of languages) {
      const page = show({}, { ...english, language });
      expect(page).toContain('data-copy="1234.50"');
      expect(page).toContain(page.includes('class="exact"') ? '<bdi dir="ltr">1234.50</bdi>' : '>234.50</span>');
      expect(textOf(page)).toMatch(/\p{Nd}{4}[.,٫]\p{Nd}\p{Nd} USDT/u);
    }
    const german = { ...english, language: chooseLanguage({ lang: 'de' }) };
    expect(show({}, german)).toContain('class="exact"');
    expect(show({ amount: '7' }, german)).not.toContain('class="exact"');
  });

  test('no description, shop name, way back, or transaction becomes markup', () => {
    const markup = (page: string) => page.replace(/[^<>"']/g, '');
    const withText = (text: string) =>
      page({
        payment: { description: text },
        shopName: text,
        return_url: `https://shop.example/${text}`,
        lookup: { transaction_id: text, outcome: 'no_transaction_id', amount: null, network: null },
      });
    const plain = markup(withText(''));
    fc.assert(
      fc.property(anyText, fc.constantFrom('', '</bdi></dd><script>', '"><img onerror=', "'"), (a, b) => {
        expect(markup(withText(a + b))).toBe(plain);
      }),
    );
  });

  test('nothing in any page needs an exception from a policy without inline code', () => {
    const pages = [
      show(),
      show(paid),
      show({}, { ...english, qr: 'link' }),
      page({ arrived: { amount: '1' }, shopName: 'Shop', return_url: 'https://shop.example/' }),
      notFoundPage(english),
      unavailablePage(english),
    ];
    for (const page of pages) expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);
  });

  test('asset names change with their content', () => {
    for (const { name } of Object.values(assets)) expect(name).toMatch(/^(checkout|wallet)\.[0-9a-f]{16}\.(js|css)$/);
  });
});
