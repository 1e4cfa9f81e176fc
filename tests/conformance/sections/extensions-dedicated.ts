import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect } from '@jest/globals';
import { optionEntries } from '@quittance/contracts/api/creation.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { Contract } from '../conformance.test.ts';
import { inDatabase } from '../../support/database.ts';
import { fewAtATime, type HttpAnswer } from '../../support/http.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { detailsOf } from '../../support/paying.ts';
import { cancel, fromPool, makePool, newAccount, newWallets, readPool, release } from '../support/pools.ts';
import { refusals } from '../support/refusals.ts';
import { rule } from '../support/rule.ts';

/** Payments that have an address for themselves, from a pool or because the merchant wants it so. */
export function extensionsDedicatedSection(contract: Contract): void {
  describe('extensions: an address of its own for each payment', () => {
    let merchant: Merchant;
    let network: string;
    beforeAll(() => {
      ({ network } = contract.stack.chain);
    });
    const open = async (pool?: object) => {
      const opened = await openMerchant(contract.stack);
      if (pool !== undefined) await makePool(opened, { network, ...pool });
      return opened;
    };
    const statusAndCode = ({ status, json }: HttpAnswer) => [status, json<{ code?: string }>().code];
    const alone = (wallet = newWallet()) => ({ merchant_wallet: wallet, dedicated_wallet: true });
    const dayBack = (days: number, { payment_id: id }: Payment) =>
      inDatabase(
        contract.stack,
        `update payments.payment set created_at = created_at - $2 * interval '1 day', expires_at = expires_at - $2 * interval '1 day',
                cancelled_at = cancelled_at - $2 * interval '1 day' where payment_id = $1`,
        [id, days],
      );

    rule(
      'extensions.dedicated.one-of',
      'is asked for with exactly one of merchant_wallet and wallet_pool; a pool is the merchant’s own, and on its network',
      async () => {
        merchant = await open({ addresses: newWallets(1) });
        const stranger = await open();
        const fields = await refusals({
          both: () => merchant.create({ wallet_pool: 'shop' }),
          neither: () => merchant.create({ merchant_wallet: undefined }),
          'neither, as null': () => merchant.create({ merchant_wallet: null, wallet_pool: null }),
          'an unknown pool': () => merchant.create(fromPool('other')),
          'no name of a pool': () => merchant.create(fromPool('Shop')),
          "another merchant's pool": () => stranger.create(fromPool()),
          'an unknown network': () => merchant.create({ ...fromPool(), network: 'elsewhere' }),
        });
        expect(fields).toEqual({
          both: ['wallet_pool'],
          neither: ['merchant_wallet'],
          'neither, as null': ['merchant_wallet'],
          'an unknown pool': ['wallet_pool'],
          'no name of a pool': ['wallet_pool'],
          "another merchant's pool": ['wallet_pool'],
          'an unknown network': ['network'],
        });
        // The stack has one network. This pool is on another one, as after an operator has switched its network off.
        await makePool(merchant, { network, addresses: newWallets(1) }, 'far');
        await inDatabase(
          contract.stack,
          `update payments.address_source set network = 'elsewhere'
            where source_id = (select source_id from payments.wallet_pool where merchant_id = $1 and name = 'far')`,
          [merchant.merchantId],
        );
        const far = await refusals({
          'of another network': () => merchant.create({ ...fromPool('far'), network }),
          'switched off': () => merchant.create(fromPool('far')),
        });
        expect(far).toEqual({ 'of another network': ['network'], 'switched off': ['wallet_pool'] });
        const payment = await merchant.created({ ...fromPool(), network });
        expect([payment.network, payment.dedicated]).toEqual([network, true]);
      },
    );

    rule(
      'extensions.dedicated.refused',
      'is 422 with unique_amount, and accept_from_percent is 422 outside 50 to 100 and on a shared wallet',
      async () => {
        merchant = await open({ addresses: newWallets(1) });
        const part = (percent: unknown, where: object = alone()) => ({ ...where, accept_from_percent: percent });
        const bodies: Record<string, Record<string, unknown>> = {
          'unique, alone': { ...alone(), unique_amount: true },
          'unique, of a pool': { ...fromPool(), unique_amount: true },
          'no boolean': { dedicated_wallet: 'yes' },
          49: part(49),
          101: part(101),
          'no integer': part(75.5),
          'a text': part('90'),
          'of a pool': part(49, fromPool()),
          shared: part(90, {}),
          'shared by name': part(99, { dedicated_wallet: false }),
        };
        const asked = Object.entries(bodies).map(([name, body]) => [name, () => merchant.create(body)] as const);
        const fields = await refusals(Object.fromEntries(asked));
        const percent = ['accept_from_percent'];
        expect(fields).toEqual({
          ...{ 'unique, alone': ['dedicated_wallet'], 'unique, of a pool': ['wallet_pool'] },
          ...{ 'no boolean': ['dedicated_wallet'], 49: percent, 101: percent, 'no integer': percent },
          ...{ 'a text': percent, 'of a pool': percent, shared: percent, 'shared by name': percent },
        });
        const shown = async (body: Record<string, unknown>) => (await merchant.created(body)).accept_from_percent;
        expect([await shown(part(50)), await shown(part(100)), await shown(part(100, {}))]).toEqual([50, null, null]);
      },
    );

    rule(
      'extensions.creation.null',
      'in a creation, null for an optional field is the same as leaving it out',
      async () => {
        merchant = await open({ addresses: newWallets(1) });
        const nulls = Object.fromEntries(
          ['network', ...optionEntries.map(([name]) => name)].map((name) => [name, null]),
        );
        const [key, other] = [randomUUID(), randomUUID()];
        const plain = await merchant.create({}, key);
        const same = await merchant.create(nulls, key);
        expect([same.status, same.text]).toEqual([201, plain.text]);
        const pooled = await merchant.create(fromPool(), other);
        const again = await merchant.create({ ...nulls, ...fromPool(), merchant_wallet: null }, other);
        expect([again.status, again.text]).toEqual([201, pooled.text]);
      },
    );

    rule(
      ['extensions.dedicated.pool', 'extensions.dedicated.replay', 'extensions.dedicated.exhausted'],
      'is of the pool, the same in every replay; when none is free, a creation is 409 until a rest has ended',
      async () => {
        const addresses = newWallets(2);
        merchant = await open({ addresses });
        const key = randomUUID();
        const first = await merchant.create(fromPool(), key);
        const payment = first.json<Payment>();
        const shown = { dedicated: true, derivation_index: null, received_amount: '0', accept_from_percent: null };
        expect(payment).toMatchObject({ status: 'PENDING', network, merchant_wallet: addresses[0], ...shown });
        expect(await detailsOf(merchant, payment)).toMatchObject({ ...payment, transfers: [] });
        const second = await merchant.created(fromPool());
        expect(second.merchant_wallet).toBe(addresses[1]);
        const replay = await merchant.create(fromPool(), key);
        expect([replay.status, replay.text]).toEqual([201, first.text]);
        expect(await readPool(merchant)).toMatchObject({ size: 2, free: 0 });
        const exhausted = [409, 'wallet_pool_exhausted'];
        expect(statusAndCode(await merchant.create(fromPool()))).toEqual(exhausted);

        expect((await cancel(merchant, second)).json()).toMatchObject(shown);
        expect(statusAndCode(await merchant.create(fromPool()))).toEqual(exhausted);
        expect((await merchant.create(fromPool(), key)).text).toBe(first.text);
        expect((await release(merchant, second.merchant_wallet)).status).toBe(200);
        expect((await merchant.created(fromPool())).merchant_wallet).toBe(addresses[1]);
      },
    );

    rule('extensions.dedicated.pool', 'is a different one for each of many creations at once', async () => {
      const addresses = newWallets(15);
      merchant = await open({ addresses });
      const made = await fewAtATime(Array.from({ length: 15 }, () => () => merchant.created(fromPool())));
      expect(made.map(({ merchant_wallet: wallet }) => wallet).toSorted()).toEqual(addresses.toSorted());
    });

    rule(
      'extensions.dedicated.index',
      'is the next child of an extended key, each once, and its index is shown',
      async () => {
        const { xpub, addresses } = newAccount();
        merchant = await open({ xpub, expect_first_address: addresses[0] });
        const made = await fewAtATime([1, 2, 3].map(() => () => merchant.created(fromPool())));
        const indexes = made.map(({ derivation_index: index }) => index!);
        expect(indexes.toSorted()).toEqual([0, 1, 2]);
        expect(made.map(({ merchant_wallet: wallet }) => wallet)).toEqual(indexes.map((index) => addresses[index]));
        // An address of a key is not given again.
        await cancel(merchant, made[0]!);
        expect((await release(merchant, made[0]!.merchant_wallet)).status).toBe(200);
        expect((await merchant.created(fromPool())).derivation_index).toBe(3);
        expect(await readPool(merchant)).toMatchObject({ next_index: 4 });
      },
    );

    rule(
      'extensions.dedicated.in-use',
      'is 409 wallet_in_use while a payment on it waits or rests, and for 30 days after a payment that shared it',
      async () => {
        merchant = await open();
        const wallet = newWallet();
        const shared = await merchant.created({ merchant_wallet: wallet });
        const refused = async () =>
          expect(statusAndCode(await merchant.create(alone(wallet)))).toEqual([409, 'wallet_in_use']);
        await refused();
        await cancel(merchant, shared);
        await refused();
        await dayBack(29, shared);
        await refused();
        await dayBack(2, shared);
        const payment = await merchant.created(alone(wallet));
        expect(payment).toMatchObject({ dedicated: true, merchant_wallet: wallet, received_amount: '0' });
        await refused();
        await cancel(merchant, payment);
        await refused();
        expect((await release(merchant, wallet)).status).toBe(200);
        expect((await merchant.create(alone(wallet))).status).toBe(201);
      },
    );

    rule(
      'extensions.dedicated.closed',
      'keeps every other creation on it at 409 wallet_dedicated while its payment waits or rests',
      async () => {
        merchant = await open();
        const key = randomUUID();
        const first = await merchant.create(alone(merchant.wallet), key);
        const payment = first.json<Payment>();
        const refused = async () => {
          for (const body of [{}, { amount: '3' }, { amount: '3', unique_amount: true }]) {
            const answer = await merchant.create({ merchant_wallet: merchant.wallet, ...body });
            expect([body, ...statusAndCode(answer)]).toEqual([body, 409, 'wallet_dedicated']);
          }
        };
        await refused();
        expect((await merchant.create(alone(merchant.wallet), key)).text).toBe(first.text);
        await cancel(merchant, payment);
        await refused();
        await dayBack(1.1, payment);
        expect(await merchant.created()).toMatchObject({ dedicated: false, received_amount: null });
      },
    );
  });
}
