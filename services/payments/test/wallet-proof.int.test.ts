import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type {
  ProvenWallet,
  Wallet as ShownWallet,
  WalletChallenge,
} from '@quittance/contracts/http/payments/wallets.ts';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { Wallet } from 'ethers/wallet';
import { randomBytes } from 'node:crypto';
import { accept, confirmed, messagesAbout, untilDetails, untilRecorded } from './acceptance-fixtures.ts';
import { create, newMerchant, newPayment, newWallet, transferFor, wholeSecond } from './fixtures.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { signTron } from './wallet-signing.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
let unbound: PaymentsUnderTest;
beforeAll(async () => {
  [payments, unbound] = await Promise.all([
    startPayments({ replicas: 2 }),
    startPayments({ settings: { WALLET_BINDING: 'off', PUBLIC_BASE_URL: 'https://pay.other' } }),
  ]);
});
afterAll(() => Promise.all([payments.close(), unbound.close()]));

const author = { actor: 'olga', reason: 'she sent a signature' };
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;
const newKey = () => new Wallet(`0x${randomBytes(32).toString('hex')}`);

const challenge = async (merchant_id: string, address: string, on = payments) =>
  (await on.call<WalletChallenge>('POST', `/wallets/${address}/challenge`, { merchant_id })).json;
const verify = (merchant_id: string, address: string, signature: string, on = payments) =>
  on.call<ProvenWallet>('POST', `/wallets/${address}/proof`, { merchant_id, signature, ...author });
/** The whole path: a challenge, signed with the wallet's key. */
const prove = async (merchant: string, key: Wallet, on = payments) => {
  const { text } = await challenge(merchant, key.address, on);
  return verify(merchant, key.address, await key.signMessage(text), on);
};
const show = async (address: string) => (await payments.call<ShownWallet>('GET', `/wallets/${address}`)).json;
const detailOf = (answer: { json: { detail: unknown } }) => JSON.stringify(answer.json.detail);

test('a merchant proves a wallet before it is used, and then nobody else can', async () => {
  const [key, owner, other] = [newKey(), await newMerchant(payments), await newMerchant(payments)];
  const { text } = await challenge(owner, key.address.toLowerCase());
  for (const part of ['https://pay.example', owner, key.address]) expect(text).toContain(part);
  const signature = await key.signMessage(text);
  const proven = await verify(owner, key.address.toLowerCase(), signature);
  expect(proven.json).toEqual({
    ...{ address: key.address, merchant_id: owner, taken_from: null, cancelled_payments: 0 },
    ...{ signed_text: text, signature, ...author, proven_at: time },
  });
  expect(await show(key.address)).toMatchObject({ merchant_id: owner, proven_at: time, proofs: [{ signature }] });
  expect((await create(payments, other, { wallet: key.address })).json).toMatchObject({
    code: 'wallet_of_another_merchant',
  });
  expect((await create(payments, owner, { wallet: key.address })).status).toBe(201);
  const gate = await payments.call('GET', `/merchants/${owner}/gate`);
  expect(gate.json).toMatchObject({ proven_wallets: [key.address] });
  // The operator's release ends it, as it ends a binding by use.
  await payments.call('POST', `/wallets/${key.address}/release`, author);
  expect(await show(key.address)).toMatchObject({
    merchant_id: null,
    proven_at: null,
    proofs: [{ merchant_id: owner }],
  });
});

test("a Tron wallet is proven by Tron's message signature", async () => {
  const key = newKey();
  const address = addressFromHex('tron', key.address);
  const owner = await newMerchant(payments);
  const { text } = await challenge(owner, address);
  expect((await verify(owner, address, await key.signMessage(text))).status).toBe(422);
  expect((await verify(owner, address, signTron(key, text))).json).toMatchObject({ address, merchant_id: owner });
});

describe('refused, and nothing changes:', () => {
  const refused = async (
    status: number,
    detail: RegExp,
    attempt: (given: { key: Wallet; merchant: string; text: string }) => Promise<Awaited<ReturnType<typeof verify>>>,
  ) => {
    const [key, merchant, squatter] = [newKey(), await newMerchant(payments), await newMerchant(payments)];
    expect((await create(payments, squatter, { wallet: key.address })).status).toBe(201);
    const { text } = await challenge(merchant, key.address);
    const answer = await attempt({ key, merchant, text });
    expect({ status: answer.status, detail: detailOf(answer) }).toEqual({
      status,
      detail: expect.stringMatching(detail),
    });
    expect(await show(key.address)).toMatchObject({ merchant_id: squatter, proven_at: null, proofs: [] });
  };

  test('another merchant’s signature', () =>
    refused(422, /key of 0x/, async ({ key, merchant, text }) => {
      const other = await newMerchant(payments);
      await challenge(other, key.address);
      const answer = await verify(other, key.address, await key.signMessage(text));
      expect((await verify(await newMerchant(payments), key.address, await key.signMessage(text))).status).toBe(409);
      expect(merchant).not.toBe(other);
      return answer;
    }));

  test('a signature for another deployment', () =>
    refused(422, /key of 0x/, async ({ key, merchant, text }) =>
      verify(merchant, key.address, await key.signMessage(text.replace('pay.example', 'pay.other'))),
    ));

  test('another key’s, and no signature at all', () =>
    refused(422, /is no signature/, async ({ key, merchant, text }) => {
      expect((await verify(merchant, key.address, await newKey().signMessage(text))).status).toBe(422);
      return verify(merchant, key.address, 'trust me');
    }));

  test('one after the end of its challenge', () =>
    refused(409, /ended at/, async ({ key, merchant, text }) => {
      const { rows } = await payments.db.query<{ ends_at: Date }>(
        `update wallet_challenge set ends_at = date_trunc('second', clock_timestamp()) where merchant_id = $1 returning ends_at`,
        [merchant],
      );
      const signed = text.replace(/until \S+Z/, `until ${rows[0]!.ends_at.toISOString()}`);
      return verify(merchant, key.address, await key.signMessage(signed));
    }));

  test('one over a challenge that a newer one has replaced', () =>
    refused(422, /open challenge/, async ({ key, merchant, text }) => {
      await challenge(merchant, key.address);
      return verify(merchant, key.address, await key.signMessage(text));
    }));

  test('a merchant that nobody knows, and a text that is no address', async () => {
    const unknown = await payments.call('POST', `/wallets/${newWallet()}/challenge`, { merchant_id: newId('mer') });
    expect(unknown.status).toBe(404);
    const merchant_id = await newMerchant(payments);
    expect((await payments.call('POST', '/wallets/0x12/challenge', { merchant_id })).status).toBe(422);
  });
});

test('a signature is good for one proof, and the newest proof counts', async () => {
  const [key, first, second] = [newKey(), await newMerchant(payments), await newMerchant(payments)];
  const older = await challenge(first, key.address);
  const unused = await challenge(second, key.address);
  const signature = await key.signMessage(older.text);
  expect((await verify(first, key.address, signature)).status).toBe(200);
  expect((await verify(first, key.address, signature)).status).toBe(409);
  // What the owner signed before that proof can no longer undo it.
  expect((await verify(second, key.address, await key.signMessage(unused.text))).status).toBe(409);
  expect((await prove(second, key)).json).toMatchObject({ merchant_id: second, taken_from: first });
  expect((await create(payments, first, { wallet: key.address })).status).toBe(409);
});

test('when merchants prove one wallet at the same moment, one gets it', async () => {
  const key = newKey();
  const merchants = await Promise.all(Array.from({ length: 4 }, () => newMerchant(payments)));
  const signatures: string[] = [];
  for (const merchant of merchants)
    signatures.push(await key.signMessage((await challenge(merchant, key.address)).text));
  const answers = await Promise.all(
    merchants.flatMap((merchant, position) => [1, 2].map(() => verify(merchant, key.address, signatures[position]!))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
  const won = answers.find(({ status }) => status === 200)!.json;
  expect(await show(key.address)).toMatchObject({
    merchant_id: won.merchant_id,
    proofs: [{ signature: won.signature }],
  });
});

describe('a proven owner takes over a wallet from a merchant who only used it first', () => {
  test('whose waiting payments are cancelled with a notice, while CHECKING and PAID ones stay', async () => {
    const key = newKey();
    const paid = await newPayment(payments, { wallet: key.address, amount: '1' });
    const squatter = paid.merchantId;
    const checking = await newPayment(payments, { wallet: key.address, amount: '2' }, squatter);
    const waiting = await newPayment(payments, { wallet: key.address, amount: '3' }, squatter);
    await paid.observe(confirmed);
    const seen = await checking.observe();
    await untilDetails(paid, { status: 'PAID' });
    await untilDetails(checking, { status: 'CHECKING' });

    const owner = await newMerchant(payments);
    const { json } = await prove(owner, key);
    expect(json).toMatchObject({ taken_from: squatter, cancelled_payments: 1 });
    expect(await waiting.details()).toMatchObject({ status: 'CANCELLED', cancelled_at: json.proven_at });
    expect(await paid.details()).toMatchObject({ status: 'PAID' });
    await eventually(() => expect(messagesAbout(payments, waiting).closed).toMatchObject([{ status: 'CANCELLED' }]));
    await payments.publish(TransferObserved, { ...seen, ...confirmed });
    await untilDetails(checking, { status: 'PAID' });

    const audit = async (merchant: string) => (await payments.call('GET', `/merchants/${merchant}/audit`)).json;
    expect(await audit(owner)).toEqual({
      entries: [
        {
          ...{ at: json.proven_at, action: 'prove_wallet', ...author, before: { belongs_to: squatter } },
          after: { wallet: key.address, belongs_to: owner },
        },
      ],
    });
    expect(await audit(squatter)).toEqual({
      entries: [
        {
          ...{ at: json.proven_at, action: 'lose_wallet', ...author, before: { wallet: key.address } },
          after: { wallet: null, proven_by: owner },
        },
      ],
    });
  });

  test('and no transfer of its customers pays, or can be accepted for, a payment of the previous owner', async () => {
    const key = newKey();
    const squatted = await newPayment(payments, { wallet: key.address, amount: '10' });
    const owner = await newMerchant(payments);
    const { json } = await prove(owner, key);
    const proven = new Date(json.proven_at);
    // The same amount, in a block with a time before the proof, as blocks lag.
    const lagging = await squatted.observe({ ...confirmed, block_timestamp: wholeSecond(proven, -5) });
    expect(await untilRecorded(payments, lagging)).toMatchObject({ payment_id: null, related_payment_id: null });
    const seen = await squatted.observe({ block_timestamp: wholeSecond(proven, 1) });
    expect(await untilRecorded(payments, seen)).toMatchObject({ payment_id: null, related_payment_id: null });
    expect(await squatted.details()).toMatchObject({ status: 'CANCELLED', unmatched_transfers: [] });
    const refusal = await accept(payments, squatted, lagging);
    expect([refusal.status, detailOf(refusal)]).toEqual([409, expect.stringContaining(`another merchant, ${owner}`)]);

    const own = await newPayment(payments, { wallet: key.address, amount: '10' }, owner);
    const paying = await own.observe({ ...confirmed, block_timestamp: wholeSecond(own.payment.created_at, 1) });
    expect(await untilRecorded(payments, paying)).toMatchObject({ payment_id: own.payment.payment_id });
    const short = await own.observe({ ...confirmed, amount_units: '9500000' });
    expect(await untilRecorded(payments, short)).toMatchObject({ related_payment_id: own.payment.payment_id });
    expect(await squatted.details()).toMatchObject({ status: 'CANCELLED' });
  });

  test('but a transfer from before the proof still pays the payment that was waiting then', async () => {
    const key = newKey();
    const earlier = await newPayment(payments, { wallet: key.address, amount: '4' });
    await earlier.age(10);
    await prove(await newMerchant(payments), key);
    await untilDetails(earlier, { status: 'CANCELLED' });
    const transfer = transferFor(earlier.merchantId, await earlier.details(), {
      ...{ ...confirmed, block_timestamp: wholeSecond(new Date(), -120) },
    });
    await payments.publish(TransferObserved, transfer);
    await untilDetails(earlier, { status: 'PAID' });
  });

  test('while it creates: each of its payments is refused or cancelled, and none waits afterwards', async () => {
    const key = newKey();
    const [squatter, owner] = [await newMerchant(payments), await newMerchant(payments)];
    expect((await create(payments, squatter, { wallet: key.address, amount: '1' })).status).toBe(201);
    const { text } = await challenge(owner, key.address);
    const signature = await key.signMessage(text);
    const [proof, ...created] = await Promise.all([
      verify(owner, key.address, signature),
      ...Array.from({ length: 24 }, (_, nth) =>
        create(payments, squatter, { wallet: key.address, amount: String(nth + 2) }),
      ),
    ]);
    expect(proof.status).toBe(200);
    const { rows } = await payments.db.query<{ status: string; count: number }>(
      'select status, count(*)::int from payment where recipient = $1 group by status',
      [key.address],
    );
    const accepted = created.filter(({ status }) => status === 201).length;
    expect(rows).toEqual([{ status: 'CANCELLED', count: accepted + 1 }]);
    expect(proof.json.cancelled_payments).toBe(accepted + 1);
  });
});

test('with WALLET_BINDING=off a proven wallet is no longer shared', async () => {
  const key = newKey();
  const [one, two] = [await newMerchant(unbound), await newMerchant(unbound)];
  expect((await create(unbound, one, { wallet: key.address, amount: '1' })).status).toBe(201);
  expect((await create(unbound, two, { wallet: key.address, amount: '2' })).status).toBe(201);
  const { json } = await prove(one, key, unbound);
  expect(json).toMatchObject({ merchant_id: one, taken_from: null, cancelled_payments: 1 });
  expect(json.signed_text).toContain('https://pay.other');
  expect((await create(unbound, two, { wallet: key.address, amount: '3' })).status).toBe(409);
  expect((await create(unbound, one, { wallet: key.address, amount: '2' })).status).toBe(201);
});
