import { randomBytes } from 'node:crypto';
import { refusing } from '../check.ts';
import { paidEvent, sign, unixNow } from '../events.ts';

export const signature = refusing({
  id: 'signature',
  title: 'A wrong signature must be refused',
  why: 'Anyone can send requests to a public URL, and would get goods without paying by guessing an order. If an error is answered with 2xx instead, a genuine event that could not be checked is lost.',
  todo: 'Compute HMAC-SHA256 with the signing key over the timestamp, a dot and the raw body; answer 4xx before anything else happens if it differs.',
  probes: ({ keys: [present] }, payment) => {
    const event = paidEvent(payment);
    const body = JSON.stringify(event);
    return [
      {
        what: 'a random signature',
        event,
        differences: { headers: { 'X-Service-Signature': `v1=${randomBytes(32).toString('hex')}` } },
      },
      {
        what: 'signed with another key',
        event,
        differences: { key: { id: present.id, key: `whsec_${randomBytes(32).toString('base64url')}` } },
      },
      { what: 'the signature of another body', event, differences: { signedBody: body.replace('PAID', 'TEST') } },
      { what: 'one byte more than was signed', event, differences: { signedBody: body.slice(0, -1) } },
    ];
  },
});

export const wholeSignature = refusing({
  id: 'whole_signature',
  title: 'A missing or incomplete signature must be refused',
  why: 'A comparison that ends with the shorter text accepts a signature that anyone can guess.',
  todo: 'Compare the whole header with v1= and all 64 digits, with a constant-time function.',
  after: ['signature'],
  probes: ({ keys: [present] }, payment) => {
    const event = paidEvent(payment);
    const timestamp = unixNow();
    const right = sign(present.key, String(timestamp), JSON.stringify(event));
    return [
      ['no signature', null],
      ['an empty one', ''],
      ['v1= alone', 'v1='],
      ['only its first digits', right.slice(0, 8)],
    ].map(([what, value]) => ({
      what: what ?? '',
      event,
      differences: { timestamp, headers: { 'X-Service-Signature': value ?? null } },
    }));
  },
});

/** Values that code may use as the key that it did not find. */
const keysOfNobody = ['', 'undefined', 'null', 'None'];

export const unknownKey = refusing({
  id: 'unknown_key',
  title: 'A key that is not yours must be refused, whatever it signs',
  why: 'If an unknown key id leads to an empty key, or to the word undefined, anyone can sign.',
  todo: 'Look up the key by X-Service-Key-ID among your own keys, and answer 4xx if it does not exist, before computing anything.',
  after: ['signature'],
  probes: (_stage, payment) => [
    ...keysOfNobody.map((key) => ({
      what: `an unknown key id signed with "${key}"`,
      event: paidEvent(payment),
      differences: { key: { id: `whk_${randomBytes(16).toString('hex')}`, key } },
    })),
    ...keysOfNobody.slice(0, 2).flatMap((key) =>
      ['constructor', null].map((id) => ({
        what: id === null ? `no key id signed with "${key}"` : `the key id "${id}" signed with "${key}"`,
        event: paidEvent(payment),
        differences: { key: { id: '', key }, headers: { 'X-Service-Key-ID': id } },
      })),
    ),
  ],
});
