import { formatTransferred } from '@quittance/checkout-page/format.ts';
import { findLanguage } from '@quittance/checkout-page/languages.ts';
import type { WebhookEvent } from '@quittance/sdk';
import type { Message } from '../channels/channel.ts';
import { texts } from './texts.ts';

/** What a notice tells. `amount` is decimal text in USDT. */
export type Content = {
  kind: 'paid' | 'unmatched' | 'test';
  amount: string | null;
  payment_id: string | null;
  order_id: string | null;
  description: string | null;
};

/** @returns null for an event that merchants get no notice of. */
export function contentOf(event: WebhookEvent): Content | null {
  switch (event.status) {
    case 'PAID':
      // What arrived may differ from what was asked.
      return {
        kind: 'paid',
        ...aboutPayment(event),
        amount: event.transfer?.amount ?? event.received_amount ?? event.expected_amount,
      };
    case 'UNMATCHED':
      return { kind: 'unmatched', ...aboutPayment(event), amount: event.transfer?.amount ?? null };
    case 'TEST':
      return { kind: 'test', amount: null, payment_id: null, order_id: null, description: null };
    case 'CHECKING':
    case 'EXPIRED':
    case 'CANCELLED':
      return null;
    default:
      // A later release may send others.
      return null;
  }
}

function aboutPayment(event: { payment_id: string | null; order_id?: string; description: string | null }) {
  return {
    payment_id: event.payment_id,
    order_id: event.order_id ?? null,
    description: event.description,
  };
}

/** Longer than any text of ours, and short enough for each channel. */
const LINE_MAX = 600;

/** @param options.consoleUrl without a slash at its end; empty for no link. */
export function messageOf(
  eventId: string,
  { kind, amount, payment_id, order_id, description }: Content,
  { language: code, consoleUrl }: { language: string; consoleUrl: string },
): Message {
  const words = texts[code] ?? texts.en;
  const line = (label: string, value: string | null) => (value === null ? [] : [`${label}: ${oneLine(value)}`]);
  const path = payment_id === null ? '' : `/${encodeURIComponent(payment_id)}`;
  const lines = [
    ...(kind === 'unmatched' ? [words.look] : []),
    ...line(words.order, order_id),
    ...line(words.description, description),
    ...(consoleUrl === '' || kind === 'test' ? [] : [`${consoleUrl}/my/payments${path}`]),
  ];
  const subject = words[kind].replace('{amount}', () => money(code, amount));
  return { id: eventId, subject, text: lines.length === 0 ? words.test : lines.join('\n') };
}

/** With the currency after it, and the language's digits and decimal sign. */
function money(code: string, amount: string | null): string {
  const language = findLanguage(code) ?? findLanguage('en');
  const isAmount = amount !== null && /^\d{1,30}(\.\d{1,18})?$/.test(amount);
  return isAmount && language !== undefined ? `${formatTransferred(language, amount)} USDT` : 'USDT';
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, LINE_MAX);
