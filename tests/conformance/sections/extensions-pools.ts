import { beforeAll, describe, expect } from '@jest/globals';
import type { WalletPool } from '@quittance/contracts/http/payments/pools.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { Contract } from '../conformance.test.ts';
import { inDatabase } from '../../support/database.ts';
import { fewAtATime, type HttpAnswer } from '../../support/http.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { expectAdmitted, repeated } from '../support/counted.ts';
import { fieldsOf } from '../support/refusals.ts';
import { cancel, newAccount, newWallets, POOLS, readPool, release } from '../support/pools.ts';
import { rule } from '../support/rule.ts';

/** Wallet pools and the rests of addresses, beyond the interface document. */
export function extensionsPoolsSection(contract: Contract): void {
  describe('extensions: wallet pools', () => {
    let network: string;
    let other: Merchant;
    beforeAll(async () => {
      other = await openMerchant(contract.stack);
      ({ network } = await other.created());
    });
    // Ten changes a minute are allowed, and setting the webhook is one.
    const open = () => openMerchant(contract.stack, { webhook: false });
    const put = (merchant: Merchant, body: object, name = 'shop') =>
      merchant.call('PUT', `${POOLS}/${name}`, { body: { network, ...body } });
    const poolOf = (answer: HttpAnswer) => {
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
      return answer.json<WalletPool>();
    };

    rule('extensions.pools.list', 'a list is made, extended, replaced, and the same when it is repeated', async () => {
      const merchant = await open();
      const [one, two, three] = newWallets(3) as [string, string, string];
      const made = poolOf(await put(merchant, { addresses: [one, one.toLowerCase(), two] }));
      expect(made).toMatchObject({ kind: 'list', rest_seconds: 86_400, size: 2, free: 2, next_index: null });
      expect(made.first_addresses).toEqual([one, two]);
      const extended = poolOf(await put(merchant, { addresses: [three], append: true, rest_seconds: 3600 }));
      expect(extended).toMatchObject({ size: 3, rest_seconds: 3600, first_addresses: [one, two, three] });
      const replaced = await put(merchant, { addresses: [three, two], append: false });
      expect(poolOf(replaced)).toMatchObject({ size: 2, rest_seconds: 3600, first_addresses: [three, two] });
      expect((await put(merchant, { addresses: [three, two] })).text).toBe(replaced.text);
    });

    rule(
      'extensions.pools.refused',
      "another merchant's address is left out, and a pool keeps nobody from an address",
      async () => {
        const merchant = await open();
        const own = newWallet();
        const pool = poolOf(await put(merchant, { addresses: [other.wallet, own] }));
        expect(pool).toMatchObject({ size: 1, first_addresses: [own], refused: [other.wallet] });
        expect(await readPool(merchant)).toMatchObject({ size: 1, refused: [] });
        expect((await other.create({ merchant_wallet: own })).status).toBe(201);
      },
    );

    rule(
      'extensions.pools.key',
      'a key gives its first addresses and its next index, and is in no answer',
      async () => {
        const merchant = await open();
        const { xpub, addresses } = newAccount();
        const answer = await put(merchant, { xpub, expect_first_address: addresses[0] });
        const shown = { kind: 'xpub', size: null, free: null, next_index: 0, first_addresses: addresses };
        expect(poolOf(answer)).toMatchObject(shown);
        expect(await readPool(merchant)).toMatchObject(shown);
        expect(answer.text).not.toContain(xpub.slice(0, 8));
      },
    );

    rule(
      'extensions.pools.key-refused',
      'wrong keys are 422 by their field, and private ones stay nowhere',
      async () => {
        const merchant = await open();
        const { xpub, xprv, addresses } = newAccount();
        const [first, second] = addresses;
        const refused: [object, string[]][] = [
          [{ xpub, expect_first_address: second }, ['expect_first_address']],
          [{ xpub: newAccount(`m/44'/60'/0'/0`).xpub, expect_first_address: first }, ['xpub']],
          [{ xpub: xpub.slice(0, -1) + (xpub.endsWith('1') ? '2' : '1'), expect_first_address: first }, ['xpub']],
          [{ xpub: xprv, expect_first_address: first }, ['xpub']],
          [{ xpub }, ['expect_first_address']],
          [{ xpub, expect_first_address: first, addresses: [second] }, ['addresses']],
        ];
        for (const [body, fields] of refused) {
          const answer = await put(merchant, body);
          expect(fieldsOf(answer)).toEqual(fields);
          expect(answer.text).not.toContain(xprv.slice(20, 60));
        }
        expect((await merchant.call('GET', POOLS)).json()).toEqual({ pools: [] });
      },
    );

    rule('extensions.pools.key-conflict', 'a key that another merchant has is 409', async () => {
      const { xpub, addresses } = newAccount();
      const body = { xpub, expect_first_address: addresses[0] };
      poolOf(await put(await open(), body));
      const answer = await put(await open(), body);
      expect([answer.status, answer.json<{ code: string }>().code]).toEqual([409, 'wallet_of_another_merchant']);
    });

    rule('extensions.pools.invalid', 'an invalid pool is 422 with every wrong field, and makes none', async () => {
      const merchant = await open();
      const valid = { addresses: newWallets(1) };
      const cases: [object, string, string[]][] = [
        [{}, 'shop', ['addresses']],
        [{ ...valid, network: 'nowhere' }, 'shop', ['network']],
        [{ addresses: [] }, 'shop', ['addresses']],
        [{ addresses: newWallets(501) }, 'shop', ['addresses']],
        [{ addresses: [...newWallets(1), '0x12', `0x${'0'.repeat(40)}`] }, 'shop', ['addresses[1]', 'addresses[2]']],
        [{ ...valid, rest_seconds: 3599 }, 'shop', ['rest_seconds']],
        [{ ...valid, rest_seconds: 604_801, append: 'yes', note: 1 }, 'shop', ['append', 'note', 'rest_seconds']],
        [valid, 'Shop', ['name']],
        [valid, 'x'.repeat(41), ['name']],
      ];
      for (const [body, name, fields] of cases) expect(fieldsOf(await put(merchant, body, name))).toEqual(fields);
      expect((await merchant.call('GET', POOLS)).json()).toEqual({ pools: [] });
    });

    rule(
      ['extensions.pools.limits', 'extensions.pools.reads'],
      'a merchant has 20 pools at most, in the order of their names',
      async () => {
        const merchant = await open();
        poolOf(await put(merchant, { addresses: newWallets(1) }, 'b'));
        poolOf(await put(merchant, { addresses: newWallets(1) }, 'a'));
        const listed = (await merchant.call('GET', POOLS)).json<{ pools: WalletPool[] }>();
        expect(listed.pools).toEqual([await readPool(merchant, 'a'), await readPool(merchant, 'b')]);
        const answer = await merchant.call('GET', `${POOLS}/c`);
        expect([answer.status, answer.json<{ code: string }>().code]).toEqual([404, 'not_found']);
        const stranger = await open();
        expect((await stranger.call('GET', `${POOLS}/a`)).text).toBe(answer.text);

        await inDatabase(
          contract.stack,
          `insert into payments.wallet_pool select merchant_id, 'pool-' || n, source_id, rest_seconds, created_at
           from payments.wallet_pool, generate_series(1, 18) n where merchant_id = $1 and name = 'a'`,
          [merchant.merchantId],
        );
        expect(fieldsOf(await put(merchant, { addresses: newWallets(1) }, 'c'))).toEqual(['name']);
        poolOf(await put(merchant, { addresses: newWallets(2) }, 'b'));
      },
    );

    rule('extensions.pools.payments', 'a payment stays as it is when the pool with its address changes', async () => {
      const merchant = await openMerchant(contract.stack);
      const payment = await merchant.created();
      expect(poolOf(await put(merchant, { addresses: [merchant.wallet] }))).toMatchObject({ size: 1, free: 0 });
      const { xpub, addresses } = newAccount();
      poolOf(await put(merchant, { xpub, expect_first_address: addresses[0] }));
      const details = await merchant.call('GET', `/api/v1/payments/${payment.payment_id}/details`);
      expect(details.json()).toMatchObject({ status: 'PENDING', merchant_wallet: merchant.wallet });
    });

    rule('extensions.pools.counts', 'PUT of a pool and DELETE of a rest share the ten a minute', async () => {
      const merchant = await open();
      const body = { addresses: newWallets(1) };
      const answers = await repeated(14, () => put(merchant, body));
      expectAdmitted(answers, 200, 10);
      const others = [
        () => release(merchant, newWallet()),
        () => merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url: `https://${merchant.host}/hooks` } }),
      ];
      const statuses = (await fewAtATime(others)).map(({ status }) => status);
      expect(statuses).toEqual([429, 429]);
    });

    rule('extensions.rests.release', 'the rest of an address is ended once, by its merchant alone', async () => {
      const merchant = await openMerchant(contract.stack);
      const payment = await merchant.created({ dedicated_wallet: true });
      expect((await release(merchant, merchant.wallet)).status).toBe(404);
      await cancel(merchant, payment);
      expect((await merchant.create()).status).toBe(409);
      expect((await release(await open(), merchant.wallet)).status).toBe(404);
      const ended = await release(merchant, merchant.wallet.toLowerCase());
      expect([ended.status, ended.json()]).toEqual([200, { address: merchant.wallet, networks: [network] }]);
      expect((await release(merchant, merchant.wallet)).status).toBe(404);
      expect((await release(merchant, '0x12')).status).toBe(404);
      expect((await merchant.create()).status).toBe(201);
    });
  });
}
