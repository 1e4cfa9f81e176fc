import { expect, test } from '@jest/globals';
import type {
  CreatePayments,
  CreationOfMerchant,
  DecidedCreation,
} from '@quittance/contracts/http/payments/payments.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { type ServiceRequest, type ServiceResponse, requestOf } from '@quittance/http/client/request.ts';
import { createCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { withRequestId } from '@quittance/runtime/logger.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createCreations } from '../src/payments/creations.ts';

type Decide = (creation: CreationOfMerchant) => DecidedCreation | null;

const bodyOf = ({ merchant_id: merchant, amount }: CreationOfMerchant): string =>
  `{"of":"${merchant}","ä":"${amount}"}`;

const created: Decide = (creation) => ({
  merchant_id: creation.merchant_id,
  idempotency_key: creation.idempotency_key,
  replayed: false,
  body: bodyOf(creation),
});

const refusal: ServiceResponse = { status: 409, headers: {}, body: Buffer.from('{}') };

/** A payments service: decides batches with `decide`, and single calls with `answer`. */
function payments(
  decide: Decide | 'unknown call',
  answer: (request: ServiceRequest) => Promise<ServiceResponse> = () => Promise.resolve(refusal),
) {
  const groups: CreationOfMerchant[][] = [];
  const singles: ServiceRequest[] = [];
  const client = {
    call: (_call: typeof CreatePayments, { body }: { body: { creations: CreationOfMerchant[] } }) => {
      if (decide === 'unknown call') return Promise.reject(new Error('it answered 404'));
      groups.push(body.creations);
      // The order of an answer has no meaning.
      const found = body.creations.toReversed().map(decide);
      return Promise.resolve({ created: found.filter((one) => one !== null) });
    },
    send: (...[call, input]: Parameters<typeof requestOf>): Promise<ServiceResponse> => {
      const request = requestOf(call, input);
      singles.push(request);
      return answer(request);
    },
  } as unknown as ServiceClient;
  return { groups, singles, create: createCreations({ payments: client, logger: testLogger }) };
}

const creation = (key: string, amount = '1') => ({
  idempotency_key: key,
  amount,
  merchant_wallet: '0xwallet',
  network: 'local',
  description: 'tea',
});

const merchants = ['mer_1', 'mer_2', 'mer_3'];
const textOf = ({ status, body }: ServiceResponse): string => `${status} ${body.toString('utf8')}`;

test('concurrent creations share a call, and each gets the exact bytes of its own answer', async () => {
  const { groups, singles, create } = payments(created);
  const answers = await Promise.all(
    merchants.map((merchant, position) =>
      withRequestId(`r-${position}`, () => create(merchant, creation('key', String(position)))),
    ),
  );
  expect(answers.map(textOf)).toEqual(
    merchants.map((merchant, position) => `201 {"of":"${merchant}","ä":"${position}"}`),
  );
  expect(groups.map((group) => group.map(({ merchant_id, request_id }) => `${merchant_id} ${request_id}`))).toEqual([
    ['mer_1 r-0', 'mer_2 r-1', 'mer_3 r-2'],
  ]);
  expect(singles).toEqual([]);
});

test('a replayed creation says so', async () => {
  const { create } = payments((one) => ({ ...created(one)!, replayed: one.merchant_id === 'mer_2' }));
  const answers = await Promise.all(merchants.map((merchant) => create(merchant, creation('key'))));
  expect(answers.map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true', undefined]);
});

test('a creation that payments leaves out is sent alone, and delays no other', async () => {
  const { singles, create } = payments((one) => (one.merchant_id === 'mer_2' ? null : created(one)));
  const answers = await Promise.all(merchants.map((merchant) => create(merchant, creation('key'))));
  expect(answers.map(({ status }) => status)).toEqual([201, 409, 201]);
  expect(singles.map(({ path }) => path)).toEqual(['/internal/v1/merchants/mer_2/payments']);
});

test('creations are sent one by one if payments does not know the call', async () => {
  const { singles, create } = payments('unknown call');
  const answers = await Promise.all(merchants.map((merchant) => create(merchant, creation('key'))));
  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409]);
  expect(singles.map(({ json }) => json)).toEqual(merchants.map(() => creation('key')));
});

test("a lone creation has its own call, and so has a merchant's second one", async () => {
  const { groups, singles, create } = payments(created);
  await create('mer_1', creation('key 1'));
  await Promise.all(['key 2', 'key 3'].map((key) => create('mer_1', creation(key))));
  expect(groups).toEqual([]);
  expect(singles.map(({ json }) => json)).toEqual(['key 1', 'key 2', 'key 3'].map((key) => creation(key)));
});

test('a caller that has hung up, or has little time left, is not part of a batch', async () => {
  const { groups, create } = payments(created);
  const callers = [
    createCaller(60_000, AbortSignal.abort()),
    createCaller(60_000, new AbortController().signal),
    createCaller(100, new AbortController().signal),
    createCaller(60_000, new AbortController().signal),
  ];
  await Promise.all(
    callers.map((caller, position) => withCaller(caller, () => create(`mer_${position}`, creation('key')))),
  );
  expect(groups.map((group) => group.map(({ merchant_id: merchant }) => merchant))).toEqual([['mer_1', 'mer_3']]);
});

test('lone creations that payments does not answer delay no others', async () => {
  const { promise: silence, resolve } = Promise.withResolvers<ServiceResponse>();
  const { create } = payments(created, () => silence);
  const slow: Promise<ServiceResponse>[] = [];
  for (const merchant of ['mer_4', 'mer_5', 'mer_6']) {
    slow.push(create(merchant, creation('key')));
    // Each in its own turn of the event loop, so that they form no batch.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
  const answers = await Promise.all(merchants.map((merchant) => create(merchant, creation('key'))));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  resolve(refusal);
  expect((await Promise.all(slow)).map(({ status }) => status)).toContain(409);
});
