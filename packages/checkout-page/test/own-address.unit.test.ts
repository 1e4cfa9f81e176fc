import { describe, expect, test } from '@jest/globals';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
import { checkoutOf } from '@quittance/testkit/sample-checkout.ts';
import { evmNetwork, WALLET } from '@quittance/testkit/sample-networks.ts';
import type { PageChoices } from '../src/document.ts';
import { formatAmount, formatTransferred } from '../src/format.ts';
import { chooseLanguage, languages } from '../src/languages.ts';
import { paymentPage } from '../src/page.ts';
import { nobody } from '../src/shop.ts';
import { paymentLink } from '../src/payment-link.ts';
import { qrCode } from '../src/qr.ts';

const payment: PublicPayment = {
  status: 'PENDING',
  amount: '50.00',
  currency: 'USDT',
  network: 'local',
  merchant_wallet: WALLET,
  description: 'Order 7',
  expires_at: '2026-01-31T09:00:00.000Z',
};
const english: PageChoices = { language: chooseLanguage({}), chosenLanguage: null, qr: null };
const nothing = { amount: '0', missing: '50' };
const part = { amount: '37.66', missing: '12.34' };
const all = { amount: '50', missing: '0' };
const more = { amount: '52', missing: '0' };

type Shown = Partial<PublicPayment> & Partial<Omit<CheckoutPayment, 'payment'>>;
/** The page of a payment with an address of its own. */
function page(
  { received, arrived, warnings, lookup, confirmations, server_time, ...changes }: Shown,
  choices = english,
) {
  const view = checkoutOf(
    { ...payment, ...changes },
    {
      server_time: server_time ?? '2026-01-31T08:30:55.400Z',
      reference: 'K7QMX2RD',
      arrived: arrived ?? null,
      confirmations: confirmations ?? null,
      lookup: lookup ?? null,
      ...(warnings !== undefined && { warnings }),
      ...(received !== undefined && { received }),
    },
  );
  return paymentPage({ view, networks: [evmNetwork], shop: { ...nobody, name: 'Čajovna' } }, choices);
}
const textOf = (page: string) => page.replace(/<[^>]*>/g, '').replace(/[ \n]+/g, ' ');
const copied = (page: string) => [...page.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => text);
/** Without what the script shows at the end of the time. */
const now = (page: string) => page.replace(/<template.*<\/template/s, '');
const linkOf = (amount: string) => paymentLink({ amount, merchant_wallet: WALLET }, evmNetwork);
const invitations = /class="qr"|data-copy="|wallet-link|role="timer"/;

describe('a payment with an address of its own', () => {
  test('for which nothing has arrived is asked for as the API has it', () => {
    const shown = page({ received: nothing });
    expect(shown).toContain('data-state="waiting"');
    expect(textOf(now(shown))).toMatch(/Waiting for your payment .* Send 50.00 USDT .* You can send it in parts./);
    expect(copied(shown)).toEqual(['50.00', WALLET]);
    expect(shown).toContain(`href="${linkOf('50.00').replace('&', '&amp;')}"`);
  });

  test('for which a part has arrived asks for the rest alone, everywhere', () => {
    const shown = page({ received: part });
    expect(shown).toContain('data-state="waiting"');
    expect(textOf(now(shown))).toMatch(
      /Received 37.66 of 50.00 USDT Time left .* Send the rest, 12.34 USDT, to the same address. Send 12.34 USDT/,
    );
    expect(shown).toContain('<title>Received 37.66 of 50.00 USDT</title>');
    expect(copied(shown)).toEqual(['12.34', WALLET]);
    expect(shown).toContain(`href="${linkOf('12.34').replace('&', '&amp;')}"`);
    expect(shown).toContain(qrCode(linkOf('12.34'), english.language.texts.qrOfLink).html);
    expect(page({ received: part }, { ...english, qr: 'recipient' })).toContain(
      qrCode(WALLET, english.language.texts.qrOfRecipient).html,
    );
  });

  test.each([nothing, part, { amount: '37.654321', missing: '12.345679' }])(
    'never asks for exactly an amount, and marks no digits: %j',
    (received) => {
      for (const amount of ['50.00', '49.9037']) {
        const shown = page({ received, amount });
        expect(shown).not.toContain('last-digits');
        for (const language of languages) {
          const text = textOf(page({ received, amount }, { ...english, language }));
          const { sendExactly, amountHint, lastDigits, partsHint } = language.texts;
          for (const sentence of [amountHint, lastDigits.split('{')[0]!]) expect(text).not.toContain(sentence);
          expect(text).toContain(partsHint);
          expect(text).not.toContain(`${sendExactly} `);
        }
      }
    },
  );

  test('asks for a rest with however many decimals the token has', () => {
    const received = { amount: '9.000000000000000001', missing: '40.999999999999999999' };
    const bnb = { ...evmNetwork, decimals: 18 };
    const view = checkoutOf(payment, { received });
    const shown = paymentPage({ view, networks: [bnb], shop: nobody }, english);
    expect(shown).toContain('uint256=40999999999999999999"');
    expect(copied(shown)).toContain('40.999999999999999999');
  });

  test('says of money there nothing that is meant for a shared wallet', () => {
    for (const status of ['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED'] as const)
      for (const received of [nothing, part]) {
        const shown = page({ received, status, arrived: { amount: '49' } });
        expect(shown).not.toContain(english.language.texts.arrived.text);
        expect(shown).not.toContain('49 USDT');
      }
  });

  test('no longer asks for anything at the end of its time, and shows what has arrived', () => {
    const over = page({ received: part, server_time: payment.expires_at });
    expect(textOf(over)).toMatch(/The time to pay has ended .* Received 37.66 USDT Requested 50.00 USDT/);
    expect(over).not.toMatch(invitations);
    const [, template = ''] = /<template[^>]*>(.*)<\/template/s.exec(page({ received: part })) ?? [];
    expect(textOf(template)).toMatch(/The time to pay has ended .* Received 37.66 USDT Requested 50.00 USDT/);
    expect(template).not.toMatch(invitations);
    expect(page({ received: all, server_time: payment.expires_at })).toContain('data-state="over"');
  });

  test.each(['PENDING', 'CHECKING'] as const)('waits for confirmations once nothing is missing: %s', (status) => {
    for (const received of [all, more]) {
      const shown = page({ received, status, confirmations: { seen: 3, required: 12 } });
      expect(shown).toContain('data-state="seen"');
      expect(textOf(shown)).toMatch(
        new RegExp(`Payment found .* Confirmations: 3 of 12 .*Received ${received.amount} USDT Requested 50.00 USDT`),
      );
      expect(shown).not.toMatch(invitations);
      expect(shown).toContain('http-equiv="refresh"');
    }
  });

  test('is paid as any other, and says so where more or less than the amount has arrived', () => {
    const shown = (received: typeof part, amount = '50.00') => textOf(page({ received, amount, status: 'PAID' }));
    for (const amount of ['50', '50.00', '50.000000'])
      expect(shown(all, amount)).toBe(textOf(page({ status: 'PAID', amount })));
    expect(shown(more)).toMatch(
      /Paid 50.00 USDT .* More than requested has arrived: 52 instead of 50.00 USDT. Ask the shop about the difference./,
    );
    expect(shown({ amount: '50.5', missing: '0' }, '50.50')).not.toContain('More than');
    expect(shown({ amount: '49', missing: '1' })).toMatch(/Paid Received 49 of 50.00 USDT Your payment has arrived/);
  });

  test.each([
    ['EXPIRED', 'The time to pay had ended'],
    ['CANCELLED', 'The payment was cancelled'],
  ] as const)('%s with money says that the shop can accept it, and whom to ask', (status, why) => {
    for (const received of [part, all]) {
      const shown = page({ received, status });
      expect(shown).toContain('data-state="arrived"');
      expect(textOf(shown)).toMatch(
        new RegExp(
          `${received.amount} USDT has arrived at this address ${why}, but the shop can still accept the money. Do not pay again. Contact Čajovna and give them this reference: K7QMX2RD Received ${received.amount} USDT Requested 50.00 USDT`,
        ),
      );
      expect(shown).not.toMatch(invitations);
      expect(shown).not.toContain('class="notice"');
    }
    expect(page({ received: nothing, status })).toBe(page({ status }));
  });

  test('says of a frozen address what has arrived there, and asks for nothing', () => {
    const shown = page({ received: part, warnings: ['wallet_blacklisted'] });
    expect(textOf(shown)).toMatch(/This address is frozen .* Received 37.66 USDT/);
    expect(shown).not.toMatch(invitations);
  });

  test('marks each part for the script as news, while CHECKING too', () => {
    const newsOf = (shown: Shown) => /data-news="([^"]*)"/.exec(page(shown))?.[1];
    expect(newsOf({ received: nothing })).toBe('');
    expect(newsOf({ received: part, warnings: ['network_unreadable'] })).toBe('network_unreadable 37.66');
    expect(newsOf({ received: more, status: 'CHECKING' })).toBe('52');
    const news = ({ status }: Pick<PublicPayment, 'status'>) =>
      paymentPage(
        { view: checkoutOf({ ...payment, status }, { received: part }), networks: [evmNetwork], shop: nobody },
        english,
      );
    expect(news({ status: 'PENDING' })).not.toContain('data-news');
    expect(news({ status: 'CHECKING' })).toContain('data-news="37.66"');
  });

  test.each(['pays_this_payment', 'other_amount'] as const)(
    'does not tell a customer who looks a part up (%s) that nothing is left to do',
    (outcome) => {
      const lookup = { transaction_id: 'ab'.repeat(32), outcome, amount: null, network: null };
      const answer = (shown: Shown) =>
        /class="answer[^"]*">\s*<p>(.*?)<\/p>/s.exec(now(page({ lookup, ...shown })))?.[1];
      expect(textOf(answer({ received: part })!)).toMatch(/counts toward this payment.* Send the rest, 12.34 USDT/);
      for (const shown of [{ received: all, status: 'PAID' }, { received: nothing }, {}] as const)
        expect(answer(shown)).toBe(english.language.texts.lookup[outcome]);
    },
  );

  test('needs no exception from a policy without inline code', () => {
    for (const shown of [page({ received: part }), page({ received: more, status: 'PAID' })])
      expect(shown).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);
  });

  test('says each sentence in every language, with its own numbers', () => {
    for (const language of languages) {
      const { texts } = language;
      const fill = (text: string, values: Record<string, string>) =>
        text.replace(/\{(\w+)\}/g, (_, name) => values[name]!);
      const asked = `${formatAmount(language, '50.00')} USDT`;
      const shown = (received: typeof part, status: PublicPayment['status']) =>
        textOf(page({ received, status }, { ...english, language }));
      const arrived = formatTransferred(language, '37.66');
      const missing = `${formatTransferred(language, '12.34')} USDT`;
      const waiting = shown(part, 'PENDING');
      for (const sentence of [
        fill(texts.received, { arrived, asked }),
        fill(texts.sendRest, { missing }),
        `${texts.send} ${missing}`,
        texts.partsHint,
      ])
        expect([language.code, waiting]).toEqual([language.code, expect.stringContaining(sentence)]);
      expect(shown(more, 'PAID')).toContain(
        fill(texts.overpaid, { arrived: formatTransferred(language, '52'), asked }),
      );
      expect(shown(part, 'EXPIRED')).toContain(texts.expiredReceived);
      expect(shown(part, 'CANCELLED')).toContain(texts.cancelledReceived);
    }
  });
});
