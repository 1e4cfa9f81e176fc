import type { Author } from '@quittance/contracts/author.ts';
import {
  AddMerchantLogin,
  DisableMerchantLogin,
  LinkMerchantLogin,
  ListMerchantLogins,
  LOGINS_MAX,
  type MerchantLogin,
  type NewMerchantLogin,
} from '@quittance/contracts/http/api-gateway/merchant-logins.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { merchantNotFound } from '../responses/errors.ts';
import { insertAudit } from '../store/audit.ts';
import { addLogin, disableLogin, insertLoginLink, listLogins } from '../store/merchant-login.ts';
import { existingMerchant, merchantIdOf } from './existing-merchant.ts';

type Dependencies = {
  db: Queryable;
  inTransaction: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
};

type Named = { params: { merchant_id: string; name: string }; author: Author };

const LIST_MAX = 500;

/** The people of a merchant who may look at its data in the console. Support gives and takes these accounts. */
export const merchantLoginRoutes = ({ db, inTransaction }: Dependencies): Route[] => [
  callRoute(AddMerchantLogin, (request) => add(inTransaction, merchantIdOf(request), request)),
  callRoute(ListMerchantLogins, async (request) => {
    const { merchant_id: merchantId } = await existingMerchant(db, merchantIdOf(request));
    return { merchant_id: merchantId, logins: (await listLogins(db, merchantId, LIST_MAX)).map(withTextTimes) };
  }),
  callRoute(LinkMerchantLogin, (request) => link(inTransaction, merchantIdOf(request), request)),
  callRoute(DisableMerchantLogin, (request) => disable(inTransaction, merchantIdOf(request), request)),
];

async function add(
  inTransaction: Dependencies['inTransaction'],
  merchantId: string,
  { body: { name }, author }: { body: { name: string }; author: Author },
): Promise<NewMerchantLogin> {
  const credential = newSecret('qm');
  await inTransaction(async (tx) => {
    const outcome = await addLogin(tx, { merchantId, name, credentialHash: sha256(credential) });
    if (outcome === 'unknown_merchant') throw merchantNotFound();
    if (outcome === 'works_already')
      throw new HttpError(409, `${name} can sign in already: disable it first, or choose another name`);
    if (outcome === 'too_many')
      throw new HttpError(409, `A merchant has at most ${LOGINS_MAX} logins: disable one first`);
    const before = outcome === 'back' ? { name, disabled: true } : null;
    await insertAudit(tx, { merchantId, action: 'add_login', author, change: { before, after: { name } } });
  });
  return { name, role: 'merchant', merchant_id: merchantId, credential };
}

async function link(inTransaction: Dependencies['inTransaction'], merchantId: string, { params, author }: Named) {
  const { name } = params;
  const secret = newSecret('ql');
  const { endsAt } = await inTransaction(async (tx) => {
    const made = await insertLoginLink(tx, { merchantId, name, linkHash: sha256(secret) });
    if (made === null) throw new HttpError(404, 'Nobody of this merchant with this name may sign in');
    const change = { before: null, after: { name } };
    await insertAudit(tx, { merchantId, action: 'make_sign_in_link', author, change });
    return made;
  });
  const person = { name, role: 'merchant', merchant_id: merchantId } as const;
  return { ...person, link: secret, ends_at: rfc3339(endsAt) };
}

async function disable(
  inTransaction: Dependencies['inTransaction'],
  merchantId: string,
  { params: { name }, author }: Named,
): Promise<MerchantLogin> {
  const disabled = await inTransaction(async (tx) => {
    const login = await disableLogin(tx, merchantId, name);
    if (login === null) throw new HttpError(404, 'Nobody of this merchant with this name works');
    const change = { before: { name, disabled: false }, after: { name, disabled: true } };
    await insertAudit(tx, { merchantId, action: 'disable_login', author, change });
    return login;
  });
  return withTextTimes(disabled);
}
