import type { Merchant } from '../../../support/merchant.ts';
import { hostileBody } from './bodies.ts';
import { hostilePath, hostileQuery } from './paths.ts';
import type { Random } from './random.ts';
import type { HostileRequest } from './request.ts';
import { contentTypes, evilTexts, methods, oddHeaders } from './words.ts';

/** The parts of requests; answers add to them. */
export type World = {
  merchants: readonly Merchant[];
  /** Rotation secrets that may be used: those of merchants that send nothing else. */
  rotationSecrets: readonly string[];
  payments: { paymentId: string; token: string }[];
  cursors: string[];
};

type Kind = (random: Random, world: World, merchant: Merchant) => Omit<HostileRequest, 'kind' | 'isChunked'>;

/** A random request. About a third reach a handler, the others have one or several faults. */
export function hostileRequest(random: Random, world: World): HostileRequest {
  const [name, make] = random.weighted(kinds);
  const merchant = random.pick(world.merchants);
  const made = make(random, world, merchant);
  const headers = random.chance(0.3) ? [...made.headers, ...oddities(random)] : made.headers;
  return { kind: name, ...made, headers, isChunked: random.chance(0.3) };
}

const oddities = (random: Random) => Array.from({ length: 1 + random.below(3) }, () => random.pick(oddHeaders));
const keyOf = ({ apiKey }: Merchant) => ['X-API-Key', apiKey] as const;
const json = ['Content-Type', 'application/json'] as const;
const hex = (random: Random) => random.text(32, '0123456789abcdef');
/** A line break would end the header and change the meaning of the request. */
const headerText = (random: Random) => random.pick(evilTexts).replaceAll(/[\r\n]/g, '');

const kinds: readonly (readonly [weight: number, kind: readonly [name: string, make: Kind]])[] = [
  [9, ['creation', creation]],
  [20, ['damaged creation', damagedCreation]],
  [12, ['list', list]],
  [14, ['payment', payment]],
  [8, ['public token', publicToken]],
  [6, ['method', otherMethod]],
  [13, ['path', otherPath]],
  [9, ['credentials', credentials]],
  [3, ['too large', tooLarge]],
  [3, ['settings', settings]],
  [2, ['rotation', rotation]],
  [2, ['retry', retry]],
];

/** Few enough keys and amounts that replays, conflicts and taken slots occur. */
const creationHeaders = (random: Random, merchant: Merchant) => [
  keyOf(merchant),
  json,
  ['Idempotency-Key', `order-${random.below(60)}`] as const,
];

const creationBody = (random: Random, world: World, merchant: Merchant) => ({
  amount: `${1 + random.below(9)}.${random.below(10)}`,
  merchant_wallet: random.chance(0.9) ? merchant.wallet : random.pick(world.merchants).wallet,
  description: `Order ${random.below(3)}`,
  ...(random.chance(0.3) && options(random)),
});

const options = (random: Random) => ({
  order_id: `order ${random.below(20)}`,
  metadata: { basket: 'a-1' },
  return_url: 'https://shop.example.com/orders/17',
  expires_in: 1800,
  unique_amount: random.chance(0.5),
});

function creation(random: Random, world: World, merchant: Merchant) {
  const body = Buffer.from(JSON.stringify(creationBody(random, world, merchant)));
  return { method: 'POST', path: '/api/v1/payments', headers: creationHeaders(random, merchant), body };
}

function damagedCreation(random: Random, world: World, merchant: Merchant) {
  const made = creation(random, world, merchant);
  const body = random.chance(0.85) ? hostileBody(random, creationBody(random, world, merchant)) : made.body;
  const headers = made.headers.map(([name, value]) => {
    if (name === 'Content-Type' && random.chance(0.15)) return [name, random.pick(contentTypes)] as const;
    if (name === 'Idempotency-Key' && random.chance(0.2)) return [name, headerText(random)] as const;
    return [name, value] as const;
  });
  return { ...made, headers: headers.filter(() => !random.chance(0.05)), body };
}

function list(random: Random, world: World, merchant: Merchant) {
  const path = `/api/v1/payments${random.chance(0.7) ? '/page' : ''}${hostileQuery(random, world.cursors)}`;
  return { method: 'GET', path, headers: [keyOf(merchant)], body: null };
}

function payment(random: Random, world: World, merchant: Merchant) {
  const known = world.payments.length > 0 ? random.pick(world.payments).paymentId : `pay_${hex(random)}`;
  const id = random.weighted([
    [6, known],
    [3, `pay_${hex(random)}`],
    [1, known.toUpperCase()],
    [1, `evt_${hex(random)}`],
    [2, hostilePath(random, known)],
  ]);
  const [method, action] = random.pick([
    ['GET', 'details'],
    ['GET', 'webhooks'],
    ['POST', 'cancel'],
  ] as const);
  const body = random.chance(0.1) ? Buffer.from(random.pick(evilTexts)) : null;
  return { method, path: `/api/v1/payments/${id}/${action}`, headers: [keyOf(merchant)], body };
}

function publicToken(random: Random, world: World) {
  const known = world.payments.length > 0 ? random.pick(world.payments).token : random.text(43);
  const token = random.weighted([
    [4, known],
    [3, random.text(43)],
    [1, random.text(1 + random.below(300))],
    [2, hostilePath(random, known)],
  ]);
  const page = random.chance(0.2) ? '/pay' : '/api/v1/payments';
  const headers = random.chance(0.2) ? [['Accept-Language', 'de'] as const] : [];
  return { method: random.chance(0.1) ? 'HEAD' : 'GET', path: `${page}/${token}`, headers, body: null };
}

const knownPaths = (random: Random): readonly string[] => [
  ...['/api/v1/payments', '/api/v1/payments/page', `/api/v1/payments/pay_${hex(random)}/details`],
  ...[`/api/v1/payments/pay_${hex(random)}/cancel`, `/api/v1/payments/${random.text(43)}`],
  ...[`/api/v1/payments/pay_${hex(random)}/webhooks`, `/api/v1/merchant/webhook/events/evt_${hex(random)}/retry`],
  ...['/api/v1/merchant/limits', '/api/v1/merchant/webhook', '/api/v1/merchant/webhook/rotate-key'],
  '/api/v1/merchant/rotate-key',
];

function otherMethod(random: Random, _world: World, merchant: Merchant) {
  const method = random.weighted([
    [8, random.pick(methods)],
    [1, random.text(3 + random.below(5), 'ABCXYZ')],
    [1, random.pick(['get', 'Post', 'GET/', 'G\u0000T', 'x'.repeat(3_000)])],
  ]);
  const headers = random.chance(0.5) ? [keyOf(merchant)] : [];
  return { method, path: random.pick(knownPaths(random)), headers, body: null };
}

function otherPath(random: Random, _world: World, merchant: Merchant) {
  const path = hostilePath(random, random.pick(knownPaths(random)));
  const method = random.pick(['GET', 'GET', 'POST', 'PUT', 'DELETE']);
  return { method, path: path.startsWith('/') ? path : `/${path}`, headers: [keyOf(merchant)], body: null };
}

/** No key, a wrong one, or the right one twice or in the wrong place. */
function credentials(random: Random, world: World, merchant: Merchant) {
  const { apiKey } = merchant;
  const supplied: (readonly [string, string])[] = random.pick([
    [],
    [['X-API-Key', headerText(random)]],
    [['X-API-Key', `qk_${random.text(43)}`]],
    [['X-API-Key', apiKey.slice(0, -1)]],
    [['X-API-Key', `${apiKey}${'A'.repeat(6_000)}`]],
    [keyOf(merchant), keyOf(merchant)],
    [
      ['X-API-Key', `qk_${random.text(43)}`],
      ['x-api-key', apiKey],
    ],
    [['X-API-Key', merchant.rotationSecret]],
    [['Authorization', `Bearer ${apiKey}`]],
    [['secret-key', apiKey]],
    [['X_API_Key', apiKey]],
  ]);
  const query = random.chance(0.2) ? `?X-API-Key=${apiKey}&api_key=${apiKey}` : '';
  const path = random.pick(knownPaths(random).filter((known) => !known.endsWith('/rotate-key')));
  const method = random.pick(['GET', 'POST', 'PUT']);
  const body = method === 'GET' ? null : hostileBody(random, creationBody(random, world, merchant));
  return { method, path: path + query, headers: [...supplied, json], body };
}

function tooLarge(random: Random, world: World, merchant: Merchant) {
  const made = creation(random, world, merchant);
  const size = random.pick([65_537, 65_600, 68_000, 70_000, 131_072]);
  const text = random.pick([made.body.toString(), '[', '"', '{"a":']);
  const path = random.pick([made.path, made.path, '/api/v1/merchant/webhook']);
  const body = Buffer.alloc(size, random.pick([' ', '[', '\u0000', 'x']));
  body.write(text);
  return { ...made, method: path === made.path ? 'POST' : 'PUT', path, body };
}

function settings(random: Random, _world: World, merchant: Merchant) {
  const urls = [
    `https://${merchant.host}/hooks`,
    `https://${merchant.host}:8443/`,
    `http://${merchant.host}/`,
    'https://127.0.0.1/',
  ];
  const body = hostileBody(random, { url: random.pick(urls) });
  return { method: 'PUT', path: '/api/v1/merchant/webhook', headers: [keyOf(merchant), json], body };
}

function rotation(random: Random, world: World) {
  const secret = random.pick([`qr_${random.text(43)}`, headerText(random), ...world.rotationSecrets]);
  return {
    method: 'POST',
    path: '/api/v1/merchant/rotate-key',
    headers: [['secret-key', secret] as const],
    body: null,
  };
}

function retry(random: Random, _world: World, merchant: Merchant) {
  const id = random.pick([`evt_${hex(random)}`, `pay_${hex(random)}`, hostilePath(random, `evt_${hex(random)}`)]);
  const path = `/api/v1/merchant/webhook/events/${id}/retry`;
  return { method: 'POST', path, headers: [keyOf(merchant)], body: null };
}
