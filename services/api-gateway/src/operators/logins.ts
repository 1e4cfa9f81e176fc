import type { Author } from '@quittance/contracts/author.ts';
import {
  AddMerchantLogin,
  DisableMerchantLogin,
  INVITATION_SECONDS,
  LinkMerchantLogin,
  ListMerchantLogins,
  LOGINS_MAX,
  ResetMerchantPasskeys,
  SetMerchantLoginRole,
  type MerchantLogin,
  type NewMerchantLogin,
} from '@quittance/contracts/http/api-gateway/people.ts';
import { newSecret, sha256 } from '@quittance/contracts/ids.ts';
import { actorOf, type MerchantRole } from '@quittance/contracts/principal.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { insertAudit } from '../merchants/audit.sql.ts';
import { existingMerchant, merchantIdOf, merchantNotFound } from '../merchants/existing-merchant.ts';
import { addLogin, disableLogin, insertLoginLink, listLogins, setLoginRole } from './login.sql.ts';
import { deletePasskeys } from './passkey.sql.ts';
import type { People } from './sign-in.ts';

const LISTED_MAX = 500;

type NamedLogin = { params: { merchant_id: string; name: string }; author: Author };

/** The accounts of a merchant's people, who see its data in the console. Support adds and disables them. */
export const loginRoutes = ({ db, transact }: Pick<People, 'db' | 'transact'>): Route[] => [
  callRoute(AddMerchantLogin, (request) => addPerson(transact, merchantIdOf(request), request)),
  callRoute(ListMerchantLogins, async (request) => {
    const { merchant_id } = await existingMerchant(db, merchantIdOf(request));
    return { merchant_id, logins: (await listLogins(db, merchant_id, LISTED_MAX)).map(withTextTimes) };
  }),
  callRoute(LinkMerchantLogin, (request) => linkPerson(transact, merchantIdOf(request), request)),
  callRoute(SetMerchantLoginRole, (request) => setRole(transact, merchantIdOf(request), request)),
  callRoute(ResetMerchantPasskeys, (request) => {
    const { merchant_id: merchantId, name } = { ...request.params, merchant_id: merchantIdOf(request) };
    return transact(async (tx) => {
      const person = { name, role: 'merchant', merchant_id: merchantId, merchant_role: 'viewer' } as const;
      const removed = await deletePasskeys(tx, person);
      if (removed === null) throw noActiveLogin();
      const change = { before: { name, passkeys: removed }, after: { name, passkeys: 0 } };
      await insertAudit(tx, { merchantId, action: 'reset_passkeys', author: request.author, change });
      return { removed };
    });
  }),
  callRoute(DisableMerchantLogin, (request) => disablePerson(transact, merchantIdOf(request), request)),
];

async function addPerson(
  transact: Transact,
  merchantId: string,
  { body: { name, role = 'viewer' }, author }: { body: { name: string; role?: MerchantRole }; author: Author },
): Promise<NewMerchantLogin> {
  const credential = newSecret('qm');
  const link = newSecret('ql');
  const made = await transact(async (tx) => {
    const outcome = await addLogin(tx, { merchantId, name, role, credentialHash: sha256(credential) });
    if (outcome === 'unknown_merchant') throw merchantNotFound();
    if (outcome === 'name_taken')
      throw new HttpError(409, `${name} can sign in already: disable it first, or choose another name`);
    if (outcome === 'too_many')
      throw new HttpError(409, `A merchant has at most ${LOGINS_MAX} logins: disable one first`);
    const person = { name, role: 'merchant', merchant_id: merchantId, merchant_role: role } as const;
    // Who comes back may have lost the device in the meantime.
    const before =
      outcome === 'enabled' ? { name, disabled: true, passkeys: (await deletePasskeys(tx, person)) ?? 0 } : null;
    await insertAudit(tx, { merchantId, action: 'add_login', author, change: { before, after: { name, role } } });
    // A blocked merchant's people sign in once it is unblocked; until then no link is made.
    return insertLoginLink(tx, { merchantId, name, linkHash: sha256(link), seconds: INVITATION_SECONDS });
  });
  const invitation = made === null ? {} : { link, ends_at: rfc3339(made.ends_at) };
  return { name, role: 'merchant', merchant_id: merchantId, merchant_role: role, credential, ...invitation };
}

async function setRole(
  transact: Transact,
  merchantId: string,
  { params: { name }, body: { role }, author }: NamedLogin & { body: { role: MerchantRole } },
): Promise<MerchantLogin> {
  // An owner who has no other owner left would need support.
  if (author.actor === actorOf({ name, role: 'merchant', merchant_id: merchantId, merchant_role: role }))
    throw new HttpError(409, 'Your own role is changed by another owner');
  const login = await transact(async (tx) => {
    const changed = await setLoginRole(tx, { merchantId, name, role });
    if (changed === null) throw noActiveLogin();
    const change = { before: { name, role: changed.before }, after: { name, role } };
    await insertAudit(tx, { merchantId, action: 'set_login_role', author, change });
    return changed.login;
  });
  return withTextTimes(login);
}

const noActiveLogin = (): HttpError => new HttpError(404, 'No active login of this merchant has this name');

async function linkPerson(transact: Transact, merchantId: string, { params: { name }, author }: NamedLogin) {
  const link = newSecret('ql');
  const { ends_at: endsAt, role } = await transact(async (tx) => {
    const made = await insertLoginLink(tx, { merchantId, name, linkHash: sha256(link) });
    if (made === null) throw new HttpError(404, 'No login of this merchant with this name may sign in');
    const change = { before: null, after: { name } };
    await insertAudit(tx, { merchantId, action: 'make_sign_in_link', author, change });
    return made;
  });
  return {
    name,
    role: 'merchant' as const,
    merchant_id: merchantId,
    merchant_role: role,
    link,
    ends_at: rfc3339(endsAt),
  };
}

async function disablePerson(
  transact: Transact,
  merchantId: string,
  { params: { name }, author }: NamedLogin,
): Promise<MerchantLogin> {
  const disabled = await transact(async (tx) => {
    const login = await disableLogin(tx, merchantId, name);
    if (login === null) throw noActiveLogin();
    const change = { before: { name, disabled: false }, after: { name, disabled: true } };
    await insertAudit(tx, { merchantId, action: 'disable_login', author, change });
    return login;
  });
  return withTextTimes(disabled);
}
