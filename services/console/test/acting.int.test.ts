import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createAuthenticator } from '@quittance/testkit/authenticator.ts';
import { endWindows } from '../../api-gateway/test/gateway.ts';
import { insertUnmatched, pastUnmatched } from '../../payments/test/unmatched-fixtures.ts';
import { insertAmbiguous, openShop, type Shop } from './merchant-world.ts';
import { askedIn, invite, ORIGIN, RP_ID, type Person } from './person.ts';
import { startWorld, type Answer, type World } from './world.ts';

// Five services and a console start for it.
jest.setTimeout(300_000);

const scopes = [
  'operator_sign_in',
  'operator_sign_in_start',
  'merchant_pages',
  'webhook_settings',
  'creation',
  'cancellation',
];

let world: World;
let shop: Shop;
let other: Shop;
beforeAll(async () => {
  world = await startWorld({ passkeysFor: RP_ID });
  shop = await openShop(world, 'Ours');
  other = await openShop(world, 'Theirs');
});
afterAll(() => world.close());
beforeEach(async () => {
  for (const scope of scopes) await endWindows(world.services.pools.gateway, scope);
});

const personWith = (role: string, name: string) => invite(world, shop, { role, name });

const auditOf = async () => {
  const { body } = await world.services.internal<{ entries: { action: string; actor: string; after: object }[] }>(
    'api-gateway',
    'GET',
    `/merchants/${shop.merchantId}/audit`,
  );
  return body.entries.map(({ action, actor }) => `${actor} ${action}`);
};

/** The first id of a payment that a redirect leads to. */
const idIn = ({ headers }: Answer): string => /pay_\w{32}/.exec(headers.get('location') ?? '')?.[0] ?? '';

async function createdBy(person: Person, fields: Record<string, string> = {}): Promise<string> {
  const wallet = `0x${'0'.repeat(24)}${Math.random().toString(16).slice(2, 14).padEnd(16, '1')}`;
  const created = await person.send('/my/new-payment', {
    ...{ amount: '12.50', description: 'A table for two', merchant_wallet: wallet, key: crypto.randomUUID() },
    ...fields,
  });
  expect([created.status, idIn(created)]).toEqual([303, expect.stringMatching(/^pay_/)]);
  return idIn(created);
}

const acceptAt = (transactionId: string) => `/my/transfers/${transactionId}/0/accept`;

describe('staff', () => {
  let staff: Person;
  beforeAll(async () => {
    staff = await personWith('staff', 'stan');
  });

  test('creates a payment once however often the form is sent, with what a customer needs, and cancels it', async () => {
    const same = { key: crypto.randomUUID(), merchant_wallet: `0x${'4'.repeat(40)}` };
    const [first, again] = [await createdBy(staff, same), await createdBy(staff, same)];
    expect(again).toBe(first);
    const { text, headers } = await staff.get(`/my/payments/${first}`);
    const shown = [/https:\/\/pay\.example\/pay\/[\w-]{43}/.test(text), text.includes('mailto:')];
    expect([headers.get('refresh'), ...shown]).toEqual(['15', true, true]);
    expect((await staff.send('/my/cancel', { payment_id: first })).headers.get('location')).toBe(
      `/my/payments/${first}`,
    );
    expect((await staff.get(`/my/payments/${first}`)).headers.get('refresh')).toBeNull();
    expect(await auditOf()).toEqual(
      expect.arrayContaining(['@merchant/stan create_payment', '@merchant/stan cancel_payment']),
    );
  });

  test('sees what is wrong with a form, and keeps what was typed', async () => {
    const answer = await staff.send('/my/new-payment', {
      amount: 'much',
      description: 'A "table"',
      merchant_wallet: '0x1',
    });
    expect([answer.status, answer.text.includes('value="much"'), answer.text.includes('A &quot;table&quot;')]).toEqual([
      422,
      true,
      true,
    ]);
  });

  test('is refused every setting, with and without a passkey', async () => {
    const pages = [
      '/my/keys',
      '/my/team',
      '/my/profile',
      '/my/webhooks/endpoint',
      '/my/wallets/pool',
      '/my/wallets/proof',
    ];
    for (const page of pages)
      expect([page, (await staff.get(page)).status, (await staff.send(page, { name: 'x' })).status]).toEqual([
        page,
        403,
        403,
      ]);
    for (const page of [
      '/my/webhooks/rotate-key',
      '/my/keys/revoke',
      '/my/team/disable',
      '/my/team/role',
      '/my/team/link',
    ])
      expect([page, (await staff.send(page, { name: 'x', role: 'owner' })).status]).toEqual([page, 403]);
  });

  test('does nothing to what is another merchant’s', async () => {
    const theirs = { payment_id: other.payment, event_id: other.event };
    expect((await staff.send('/my/cancel', theirs)).status).toBe(409);
    expect((await staff.send('/my/send-again', theirs)).status).toBe(404);
    const accept = acceptAt(other.transactionId);
    expect((await staff.get(accept)).status).toBe(404);
    expect((await staff.confirm(accept, { payment_id: other.cancelled })).status).toBe(404);
    expect((await staff.confirm(acceptAt(shop.transactionId), { payment_id: other.cancelled })).status).toBe(404);
  });
});

describe('a transfer that may be for several payments', () => {
  let staff: Person;
  let ids: string[];
  let twins: string;
  beforeAll(async () => {
    staff = await personWith('staff', 'stella');
    const wallet = `0x${'7'.repeat(40)}`;
    const order = (n: number) => ({ amount: '12.50', description: `Table ${n}`, order_id: `T-${n}` });
    ids = [];
    for (const n of [1, 2, 3]) {
      const id = await createdBy(staff, { ...order(n), merchant_wallet: wallet });
      // The wallet is then free for the next payment of this amount.
      await staff.send('/my/cancel', { payment_id: id });
      ids.push(id);
    }
    const transfer = { merchant_id: shop.merchantId, block_timestamp: new Date(), amount_units: '12500000' };
    twins = await insertAmbiguous(world, ids, { ...transfer, recipient: wallet });
  });

  const radios = (text: string) => [...text.matchAll(/type="radio"[^>]*value="(pay_\w{32})"/g)].map(([, id]) => id);

  test('is chosen for one of them, all of which are shown first', async () => {
    expect((await staff.get('/my/transfers')).text).toContain(`href="${acceptAt(twins)}"`);
    expect((await staff.get(`/my/payments/${ids[1]}`)).text).toContain(`${acceptAt(twins)}?payment_id=${ids[1]}`);
    const { text } = await staff.get(`${acceptAt(twins)}?payment_id=${ids[1]}`);
    expect(text).toContain('3 payments had this amount');
    expect(radios(text)).toEqual(ids);
    for (const n of [1, 2, 3]) expect(text).toMatch(new RegExp(`Table ${n}[\\s\\S]*?Order T-${n}, reference`));
    expect(text).toMatch(/name="confirm_candidates" value="3"/);
    expect(/value="(pay_\w{32})"\s+required\s+checked/.exec(text)?.[1]).toBe(ids[1]);
  });

  test('is shown again when the person did not see as many as there are, and needs a choice', async () => {
    for (const seen of [{}, { confirm_candidates: '2' }]) {
      const answer = await staff.confirm(acceptAt(twins), { payment_id: ids[0]!, ...seen });
      expect([answer.status, radios(answer.text)]).toEqual([409, ids]);
      expect(answer.text).toContain('confirm_candidates');
    }
    expect((await staff.send(acceptAt(twins), { confirm_candidates: '3' })).status).toBe(422);
    // Then the chain is asked, and nobody answers for it here.
    const all = { payment_id: ids[0]!, confirm_candidates: '3' };
    expect((await staff.confirm(acceptAt(twins), all)).status).toBe(503);
  });

  test('that may be another merchant’s too is left to support, and theirs stay hidden', async () => {
    const transfer = { merchant_id: shop.merchantId, block_timestamp: new Date(), amount_units: '12500000' };
    const shared = await insertAmbiguous(world, [ids[0]!, other.payment], transfer);
    const { text } = await staff.get(acceptAt(shared));
    expect(text).toContain('another shop that uses this wallet');
    expect([radios(text), text.includes(ids[0]!), text.includes(other.payment)]).toEqual([[], true, false]);
    expect((await staff.get('/my/transfers')).text).not.toContain(acceptAt(shared));
    const forced = await staff.confirm(acceptAt(shared), { payment_id: ids[0]!, confirm_candidates: '2' });
    expect([forced.status, forced.text.includes('only an operator'), forced.text.includes(other.payment)]).toEqual([
      ...[409, true, false],
    ]);
  });

  test('that seems to be meant for none is accepted for one that is searched for, never for another merchant’s', async () => {
    const wallet = `0x${'7'.repeat(40)}`;
    const lost = pastUnmatched({ merchant_id: shop.merchantId, block_timestamp: new Date(), recipient: wallet });
    await insertUnmatched(world.services.pools.payments, [lost]);
    const path = acceptAt(lost.transaction_id);
    expect(new Set(radios((await staff.get(path)).text))).toEqual(new Set(ids));
    expect(radios((await staff.get(`${path}?payment=T-2`)).text)).toEqual([ids[1]]);
    expect(radios((await staff.get(`${path}?payment=${other.payment}`)).text)).toEqual([]);
  });

  test('is not offered to a viewer', async () => {
    const viewer = await personWith('viewer', 'vera');
    expect((await viewer.get('/my/transfers')).text).not.toContain(acceptAt(twins));
    expect((await viewer.get(acceptAt(twins))).status).toBe(403);
    expect((await viewer.send(acceptAt(twins), { payment_id: ids[0]! })).status).toBe(403);
  });
});

test('a viewer creates and cancels nothing', async () => {
  const viewer = await personWith('viewer', 'vic');
  expect((await viewer.get('/my/new-payment')).status).toBe(403);
  for (const [page, fields] of [
    ['/my/new-payment', { amount: '1', description: 'x', merchant_wallet: shop.wallet }],
    ['/my/cancel', { payment_id: shop.payment }],
    ['/my/send-again', { event_id: shop.event }],
  ] as const)
    expect([page, (await viewer.send(page, fields)).status]).toEqual([page, 403]);
});

describe('an owner', () => {
  let owner: Person;
  beforeAll(async () => {
    owner = await personWith('owner', 'olive');
  });

  test('adds and revokes a key, which works with its scope', async () => {
    const { text } = await owner.confirm('/my/keys', { name: 'till', scope: 'orders' });
    const key = /qk_[\w-]{43}/.exec(text)?.[0] ?? '';
    const as = (method: string, path: string, body?: object) =>
      fetch(`${world.services.env.API_GATEWAY_URL}/api/v1${path}`, {
        method,
        headers: { 'x-api-key': key, 'idempotency-key': crypto.randomUUID(), 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }).then(({ status }) => status);
    expect(await as('GET', '/payments')).toBe(200);
    expect(await as('POST', '/payments', { amount: '1', description: 'x', merchant_wallet: shop.wallet })).not.toBe(
      401,
    );
    expect(await as('POST', '/merchant/webhook/rotate-key')).toBe(401);
    expect(await as('PUT', '/merchant/profile', { display_name: 'x' })).toBe(401);
    expect((await owner.confirm('/my/keys/revoke', { name: 'till' })).headers.get('location')).toBe('/my/keys');
    expect(await as('GET', '/payments')).toBe(401);
  });

  test('invites a person by a link, changes the role, and disables', async () => {
    const { text } = await owner.confirm('/my/team', { name: 'nils', role: 'viewer' });
    expect(text).toMatch(/\/sign-in\/link\/ql_[\w-]{43}/);
    expect((await owner.confirm('/my/team/role', { name: 'nils', role: 'staff' })).status).toBe(303);
    expect((await owner.get('/my/team')).text).toContain('Staff: also creates');
    expect((await owner.confirm('/my/team/disable', { name: 'nils' })).status).toBe(303);
    expect(await auditOf()).toEqual(
      expect.arrayContaining([
        '@merchant/olive add_login',
        '@merchant/olive set_login_role',
        '@merchant/olive disable_login',
      ]),
    );
  });

  test('changes the webhook, its key, the profile and the pools', async () => {
    const saved = await owner.confirm('/my/webhooks/endpoint', {
      url: 'https://shop.example/new',
      events: 'CANCELLED',
    });
    expect(saved.headers.get('location')).toBe('/my/webhooks');
    expect((await owner.get('/my/webhooks')).text).toContain('https://shop.example/new');
    expect((await owner.confirm('/my/webhooks/rotate-key')).text).toMatch(/data-copy="whsec_[A-Za-z0-9+/]{43}="/);
    const profile = { display_name: 'Olive’s', accent_color: '#2446cf', embed_origins: 'https://shop.example' };
    expect((await owner.send('/my/profile', profile)).headers.get('location')).toBe('/my/profile?saved=yes');
    expect((await owner.get('/my/profile')).text).toContain('Olive’s');
    const pool = { name: 'shop', network: 'local', addresses: `0x${'1'.repeat(40)}\n0x${'2'.repeat(40)}` };
    expect((await owner.confirm('/my/wallets/pool', pool)).headers.get('location')).toBe('/my/wallets');
    expect((await owner.get('/my/wallets')).text).toContain('2 of 2');
  });

  test('whose session was stolen loses nothing: without the passkey, and with the thief’s, every change is refused', async () => {
    const before = await auditOf();
    const thief = createAuthenticator({ origin: ORIGIN, rpId: RP_ID });
    thief.create({ challenge: 'x' });
    const forms: [string, Record<string, string>][] = [
      ['/my/keys', { name: 'evil', scope: 'all' }],
      ['/my/keys/revoke', { name: 'till' }],
      ['/my/team', { name: 'eve', role: 'owner' }],
      ['/my/team/role', { name: 'stan', role: 'owner' }],
      ['/my/team/link', { name: 'stan' }],
      ['/my/team/disable', { name: 'stan' }],
      ['/my/webhooks/endpoint', { url: 'https://evil.example' }],
      ['/my/webhooks/rotate-key', {}],
      ['/my/wallets/pool', { name: 'evil', network: 'local', addresses: `0x${'3'.repeat(40)}` }],
      ['/my/wallets/rest', { address: `0x${'1'.repeat(40)}` }],
      [acceptAt(shop.transactionId), { payment_id: shop.cancelled }],
    ];
    for (const [page, fields] of forms) {
      const asked = askedIn(await owner.send(page, fields));
      // Signed with a passkey that is not the person's.
      const passkey = JSON.stringify(thief.get({ ...asked.options, allowCredentials: undefined }));
      const answer = await world.ask('POST', asked.action, { cookie: owner.cookie }, { ...asked.hidden, passkey });
      expect([page, answer.status]).toEqual([page, 403]);
    }
    const adding = askedIn(await owner.send('/account/passkey', { name: 'thief' }));
    const added = await owner.send('/account/passkeys', {
      ...adding.hidden,
      new_passkey: JSON.stringify(thief.create(adding.options)),
    });
    expect(askedIn(added).action).toBe('/account/passkeys');
    expect(await auditOf()).toEqual(before);
  });

  test('signs in with the passkey, sees where else, and ends that session', async () => {
    const asked = askedIn(await world.ask('POST', '/sign-in/passkey', {}, {}));
    const passkey = JSON.stringify(owner.device.get(asked.options));
    const signedIn = await world.ask('POST', asked.action, { 'user-agent': 'A browser' }, { passkey });
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const account = await world.ask('GET', '/account', { cookie });
    expect(account.text).toContain('A browser');
    const id = /action="\/account\/end-session"[\s\S]*?name="id" value="(\w{16})"/.exec(account.text)?.[1] ?? '';
    const formToken = /name="form_token" value="([^"]+)"/.exec(account.text)?.[1] ?? '';
    await world.ask('POST', '/account/end-session', { cookie }, { form_token: formToken, id });
    expect((await owner.get('/account')).headers.get('location')).toBe('/sign-in');
  });
});
