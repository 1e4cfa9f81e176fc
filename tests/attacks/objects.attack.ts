import { randomBytes } from 'node:crypto';
import type { NewApiKey } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { newId, newPublicToken } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { bytesOf, type HttpCall } from '../support/http.ts';
import { apiAt, openMerchant, type Merchant } from '../support/merchant.ts';
import { asOperator } from '../support/operator.ts';
import { createAndPay, detailsOf, tokenOf } from '../support/paying.ts';
import { untilReceived } from '../support/receiver.ts';
import type { Attack, Check, Trial } from './attack.ts';
import { ask, askAs, patiently } from './support/ask.ts';
import { addPerson } from './support/operators.ts';

/** What belongs to one merchant, and what others ask for. */
type World = {
  stack: StackFile;
  owner: Merchant;
  foreigner: Merchant;
  paid: Payment;
  open: Payment;
  eventId: string;
  transactionId: string;
  eventIndex: number;
};

/** A request about an object by its id, and by an id that nothing has. */
type Ask = { method: 'GET' | 'POST'; path: (id: string) => string; body?: object };

type Thing = { name: string; id: string; unknownId: () => string; asks: Ask[] };

/** A client and its credentials. */
type Stranger = { name: string; headers: Record<string, string> };

export const attack: Attack = {
  name: 'objects',
  about:
    "every id of a merchant's payments, events, transfers, exports, keys and account, requested by others; the contract has other merchants' ids",
  async checks({ stack }) {
    const world = await build(stack);
    const strangers = await strangersOf(world);
    const readKey = await keyOf(world, 'reports', 'read');
    const things = thingsOf(world);
    return [
      ...things.flatMap((thing) => [
        ...strangers.map((stranger) => refused(world, thing, stranger)),
        reading(world, thing, readKey),
      ]),
      ...wholes(world),
      tokens(world),
      unharmed(world),
    ];
  },
};

async function build(stack: StackFile): Promise<World> {
  const [owner, foreigner] = await Promise.all([openMerchant(stack), openMerchant(stack)]);
  const paid = await createAndPay(stack, owner, { amount: '7.01', order_id: 'private-order-of-the-owner' });
  const open = await owner.created({ amount: '7.02' });
  const [received] = await untilReceived(stack, owner.host);
  const { transaction } = await detailsOf(owner, paid);
  return {
    ...{ stack, owner, foreigner, paid, open },
    eventId: received!.body.event_id,
    transactionId: transaction!.transaction_id,
    eventIndex: transaction!.transaction_event_index,
  };
}

const thingsOf = ({ paid, open, eventId, transactionId, eventIndex }: World): Thing[] => {
  const paymentCalls: Ask[] = [
    { method: 'GET', path: (id) => `/api/v1/payments/${id}/details` },
    { method: 'GET', path: (id) => `/api/v1/payments/${id}/webhooks` },
    { method: 'POST', path: (id) => `/api/v1/payments/${id}/cancel` },
    {
      method: 'POST',
      path: (id) => `/api/v1/payments/${id}/accept-transfer`,
      body: { transaction_id: transactionId, transaction_event_index: eventIndex },
    },
  ];
  // Only a PAID payment has one.
  const proof: Ask = { method: 'GET', path: (id) => `/api/v1/payments/${id}/proof` };
  return [
    { name: 'a paid payment', id: paid.payment_id, unknownId: () => newId('pay'), asks: [...paymentCalls, proof] },
    { name: 'an open payment', id: open.payment_id, unknownId: () => newId('pay'), asks: paymentCalls },
    {
      name: 'an event',
      id: eventId,
      unknownId: () => newId('evt'),
      asks: [{ method: 'POST', path: (id) => `/api/v1/merchant/webhook/events/${id}/retry` }],
    },
  ];
};

/** Clients whose credentials open nothing. */
async function strangersOf(world: World): Promise<Stranger[]> {
  const { stack, owner } = world;
  const blocked = await openMerchant(stack);
  await asOperator(stack, 'POST', `/merchants/${blocked.merchantId}/block`, {});
  const revoked = await keyOf(world, 'gone', 'all');
  await asOperator(stack, 'POST', `/merchants/${owner.merchantId}/api-keys/revoke`, { name: 'gone' });
  const [viewer, admin] = await Promise.all([addPerson(stack, 'viewer'), addPerson(stack, 'admin')]);
  const key = (name: string, value: string): Stranger => ({ name, headers: { 'X-API-Key': value } });
  return [
    { name: 'nobody', headers: {} },
    key('a revoked key of the owner', revoked),
    key('a blocked merchant', blocked.apiKey),
    key("the owner's rotation secret as a key", owner.rotationSecret),
    key('a viewer, with the credential as a key', viewer.credential),
    { name: 'an admin, with an operator token', headers: { 'X-Operator-Token': admin.token } },
    { name: 'a wrong call token', headers: { 'X-Call-Token': randomBytes(32).toString('hex') } },
    { name: 'a right call token, at the public door', headers: callAs(stack, 'api-gateway') },
    { name: "the owner's key as a bearer token", headers: { Authorization: `Bearer ${owner.apiKey}` } },
  ];
}

async function keyOf({ stack, owner }: World, name: string, scope: 'all' | 'read'): Promise<string> {
  const path = `/merchants/${owner.merchantId}/api-keys`;
  return (await asOperator<NewApiKey>(stack, 'POST', path, { name, scope })).api_key;
}

/** Both answers, about the object and about an unknown one, in everything that can be compared. */
async function both(
  { stack }: World,
  { id, unknownId }: Thing,
  { method, path, body }: Ask,
  headers: HttpCall['headers'],
) {
  const api = patiently(apiAt(stack.edge_url));
  const call = { ...(headers !== undefined && { headers }), body };
  const [known, unknown] = await Promise.all([api(method, path(id), call), api(method, path(unknownId()), call)]);
  return { what: `${method} ${path(id)}`, known: bytesOf(known), unknown: bytesOf(unknown) };
}

const refused = (world: World, thing: Thing, { name, headers }: Stranger): Check => ({
  name: `${thing.name} is 401 to ${name}, as an unknown one is`,
  async run(trial) {
    for (const ask of thing.asks) {
      const { what, known, unknown } = await both(world, thing, ask, headers);
      trial.holds(known.status === 401, () => `${what} was answered ${known.status} ${known.text}`);
      trial.same(what, known, unknown);
    }
  },
});

const reading = (world: World, thing: Thing, key: string): Check => ({
  name: `${thing.name} cannot be changed with a key that only reads`,
  async run(trial) {
    for (const ask of thing.asks) {
      const { what, known } = await both(world, thing, ask, { 'X-API-Key': key });
      const wanted = ask.method === 'GET' ? 200 : 401;
      trial.holds(known.status === wanted, () => `${what} was answered ${known.status} instead of ${wanted}`);
    }
  },
});

/** Paths without an id show only the caller's own objects. */
const wholes = (world: World): Check[] => {
  const { foreigner, owner, paid, open, transactionId, stack } = world;
  const theirs = [
    paid.payment_id,
    open.payment_id,
    owner.merchantId,
    owner.wallet,
    owner.host,
    'private-order-of-the-owner',
  ];
  const shown = async (trial: Trial, path: string) => {
    const { status, text } = await askAs(foreigner, 'GET', path);
    trial.holds(status === 200 || status === 404, () => `GET ${path} was answered ${status} ${text}`);
    for (const one of theirs) trial.holds(!text.includes(one), () => `GET ${path} shows ${one}`);
  };
  const days = `created_from=${encodeURIComponent(new Date(Date.now() - 86_400_000).toISOString())}`;
  const day = new Date().toISOString().slice(0, 10);
  const wholesOf = (name: string, paths: string[]): Check => ({
    name: `${name} of another merchant show nothing of the owner's`,
    async run(trial) {
      for (const path of paths) await shown(trial, path);
    },
  });
  const filters = [
    'order_id=private-order-of-the-owner',
    `transaction_id=${transactionId}`,
    `merchant_wallet=${owner.wallet}`,
  ];
  return [
    wholesOf(
      'filtered lists',
      filters.flatMap((filter) => [`/api/v1/payments?${filter}`, `/api/v1/payments/page?${filter}`]),
    ),
    wholesOf('exports', [
      `/api/v1/payments/export?${days}&format=csv`,
      `/api/v1/payments/export?${days}&format=ndjson`,
    ]),
    wholesOf('reports', [`/api/v1/merchant/report?from=${day}&to=${day}`]),
    wholesOf('the transfers', [`/api/v1/merchant/transfers?transaction_id=${transactionId}`]),
    wholesOf('account and settings', [
      '/api/v1/merchant/limits',
      '/api/v1/merchant/profile',
      '/api/v1/merchant/webhook',
    ]),
    {
      name: 'the public door never shows the API keys of a merchant',
      async run(trial) {
        const path = `/internal/v1/merchants/${owner.merchantId}/api-keys`;
        const admin = await addPerson(stack, 'admin');
        const callers: Record<string, string>[] = [
          { 'X-API-Key': owner.apiKey },
          callAs(stack, 'api-gateway'),
          { 'X-Operator-Token': admin.token },
        ];
        for (const headers of callers) {
          const { status, text } = await ask('GET', stack.edge_url + path, { headers });
          trial.same(`GET ${path}`, [status, text], [404, '{"detail":"Not found","code":"not_found"}']);
        }
      },
    },
  ];
};

/** A public token opens one payment's status, for any client that has it, and nothing else. */
const tokens = ({ stack, owner, foreigner, paid, open }: World): Check => ({
  name: "a public token opens its payment's status alone, and no other text opens one",
  async run(trial) {
    const api = patiently(apiAt(stack.edge_url));
    const status = (token: string, headers: Record<string, string> = {}) =>
      api('GET', `/api/v1/payments/${token}`, { headers });
    const token = tokenOf(open);
    const seen = await status(token);
    trial.holds(seen.status === 200, () => `the token itself was answered ${seen.status}`);
    for (const secret of [open.payment_id, owner.merchantId, owner.host])
      trial.holds(!seen.text.includes(secret), () => `the status shows ${secret}`);
    trial.same(
      'the status to another merchant',
      bytesOf(await status(token, { 'X-API-Key': foreigner.apiKey })),
      bytesOf(seen),
    );
    const unknown = bytesOf(await status(newPublicToken()));
    for (const other of [
      open.payment_id,
      paid.payment_id,
      owner.merchantId,
      token.slice(0, -1),
      `${token}A`,
      token.toLowerCase(),
    ])
      trial.same(`the status of ${other}`, bytesOf(await status(other)), unknown);
    for (const path of [`/api/v1/payments/${token}/details`, `/api/v1/payments/${token}/webhooks`]) {
      const answer = await askAs(owner, 'GET', path);
      trial.holds(answer.status === 404, () => `GET ${path} was answered ${answer.status}`);
    }
    const asKey = await api('GET', '/api/v1/payments', { headers: { 'X-API-Key': token } });
    trial.holds(asKey.status === 401, () => `the token as a key was answered ${asKey.status}`);
  },
});

/** Last of this topic: none of the attempts has changed anything. */
const unharmed = ({ owner, paid, open }: World): Check => ({
  name: 'after all of this the payments of the owner are unchanged',
  async run(trial) {
    const states = await Promise.all([paid, open].map(async (payment) => (await detailsOf(owner, payment)).status));
    trial.same('their states', states, ['PAID', 'PENDING']);
  },
});
