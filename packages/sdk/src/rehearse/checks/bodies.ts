import { taking } from '../check.ts';
import { paidEvent, type Event, type RehearsedPayment } from '../events.ts';

const todoRaw =
  'Take the bytes of the request before any parser does, compute the signature over them, and parse them only afterwards.';

export const rawBody = taking({
  id: 'raw_body',
  title: 'The signature must be checked over the raw body, however its JSON is written',
  why: 'JSON that was parsed and written again has different bytes, and so a different signature. It seems to work until the first event with a space or an escape elsewhere.',
  todo: todoRaw,
  events: (nextPayment) => [
    probe('with white space', nextPayment(), (event) => `${JSON.stringify(event, null, 2)}\n`),
    probe('with escapes', nextPayment(), (event) => JSON.stringify(event).replace('"status"', '"\\u0073tatus"')),
  ],
});

export const text = taking({
  id: 'text',
  title: 'Text beyond ASCII must be accepted',
  why: 'Descriptions and metadata are UTF-8. A body that is read in a different encoding has a different signature, or a different text.',
  todo: todoRaw,
  events: (nextPayment) => [
    probe('umlauts, Chinese and emoji', {
      ...nextPayment(),
      description: 'Zwei Brötchen, 东京, 🎁 "süß" \\ </b> \u2028',
    }),
  ],
});

export const large = taking({
  id: 'large',
  title: 'The largest event must be accepted',
  why: 'With a long description and all metadata an event has 6 KiB. An event that a limit refuses is sent again for three days and never accepted.',
  todo: 'Allow bodies of 64 KiB at this path.',
  after: ['text'],
  events: (nextPayment) => {
    const { metadata = {}, ...payment } = nextPayment();
    const names = Array.from({ length: 20 - Object.keys(metadata).length }, (_, index) => `rehearsal_${index}`);
    const padded = { ...metadata, ...Object.fromEntries(names.map((name) => [name, 'x'.repeat(180)])) };
    return [probe('6 KiB', { ...payment, description: '东'.repeat(500), metadata: padded })];
  },
});

export const unknownFields = taking({
  id: 'unknown_fields',
  title: 'A PAID event with new fields must be accepted',
  why: 'Fields may be added to events. A receiver that refuses them stops accepting payments on the day of an upgrade.',
  todo: 'Ignore fields that you do not know.',
  events: (nextPayment) => {
    const payment = nextPayment();
    const event = { ...paidEvent(payment), settled_in: 'USDT', fees: { network: '0.01' }, tags: ['new'] };
    return [{ what: 'three new fields', payment, event }];
  },
});

function probe(what: string, payment: RehearsedPayment, write: (event: Event) => string = JSON.stringify) {
  const event = paidEvent(payment);
  return { what, payment, event, differences: { body: write(event) } };
}
