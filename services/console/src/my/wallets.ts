import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ListOwnPools, PutOwnPool, ReleaseOwnRest } from '@quittance/contracts/api/calls.ts';
import {
  ChallengeOwnWallet,
  ListWallets,
  ProveOwnWallet,
  type WalletChallenge,
} from '@quittance/contracts/http/payments/wallets.ts';
import type { WalletPool } from '@quittance/contracts/http/payments/pools.ts';
import { mayAct } from '@quittance/contracts/principal.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { table } from '@quittance/operator/view.ts';
import { paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { render } from '../view.ts';
import { areaField, fieldsForm, given, ownForm, textField } from './form.ts';
import { authorOf } from './keys.ts';

const WALLETS = '/my/wallets';
const POOL = '/my/wallets/pool';
const PROOF = '/my/wallets/proof';
const REST = '/my/wallets/rest';

/** Where the money arrives: wallets, pools of addresses, and proofs that a wallet is the merchant's. */
export const walletPages = (context: Context): Route[] => [
  ...ownForm(context, {
    path: WALLETS,
    title: 'Wallets',
    role: 'viewer',
    show: async ({ services, viewer }) => {
      const [{ wallets }, { pools }] = await Promise.all([
        services.call(ListWallets, paramsOf(viewer)),
        services.call(ListOwnPools),
      ]);
      const rows = table(
        'wallets',
        wallets,
        {
          address: ({ address, proven_at: at }) => ({
            first: address,
            second: at === null ? 'not proven' : ['proven ', at],
          }),
          used: 'bound_at',
        },
        'None yet: a wallet is yours from the first payment that you create on it.',
      );
      const actions = html`<ul class="actions">
        <li><a href="${POOL}">Add addresses</a></li>
        <li><a href="${PROOF}">Prove that a wallet is yours</a></li>
        <li><a href="${REST}">Use an address again early</a></li>
      </ul>`;
      return html`${render([rows, poolTable(pools)], viewer)} ${mayAct(viewer, 'owner') ? actions : []}`;
    },
    act: () => Promise.resolve(WALLETS),
  }),
  ...ownForm(context, { path: POOL, title: 'Add addresses', role: 'owner', show: poolForm, act: putPool }),
  ...ownForm(context, { path: PROOF, title: 'Prove a wallet', role: 'owner', show: addressForm, act: proveWallet }),
  ...ownForm(context, {
    path: REST,
    title: 'Use an address again early',
    role: 'owner',
    show: (visit, form) =>
      html`<p>
          After a payment, an address of its own rests, so that late money does not pay the next customer's payment. End
          the rest only if you are sure that nothing more arrives.
        </p>
        ${fieldsForm(visit, REST, [textField({ name: 'address', label: 'Address', value: given(form, 'address'), isRequired: true })], 'End the rest')}`,
    act: async ({ services }, form) => {
      await services.call(ReleaseOwnRest, { params: { address: given(form, 'address') ?? '-' } });
      return WALLETS;
    },
  }),
];

const poolTable = (pools: readonly WalletPool[]) =>
  table(
    'pools of addresses',
    pools,
    {
      name: 'name',
      network: 'network',
      kind: ({ kind }) => (kind === 'list' ? 'list' : 'extended key'),
      free: ({ free, size, next_index: next }) =>
        size === null ? `without end, ${next ?? 0} used` : `${free ?? 0} of ${size}`,
      first: ({ first_addresses: [first] }) => first ?? null,
    },
    'None. With a pool, each payment gets an address for itself.',
  );

const poolForm = (visit: OwnVisit, form: URLSearchParams): Html =>
  fieldsForm(
    visit,
    POOL,
    [
      textField({
        ...{
          name: 'name',
          label: 'Name of the pool',
          value: given(form, 'name') ?? 'shop',
          isRequired: true,
          maxLength: 40,
        },
        help: 'Lower-case letters, digits and hyphens. An existing pool is extended.',
      }),
      textField({ name: 'network', label: 'Network', value: given(form, 'network'), isRequired: true, maxLength: 32 }),
      areaField({
        ...{ name: 'addresses', label: 'Addresses', value: given(form, 'addresses') },
        help: 'One a line. Never a private key or a recovery phrase.',
      }),
      textField({
        ...{ name: 'xpub', label: 'Or an extended public key', value: given(form, 'xpub'), maxLength: 200 },
        help: 'It begins with xpub. Every payment then gets a new address.',
      }),
      textField({
        ...{ name: 'expect_first_address', label: 'Its first address', value: given(form, 'expect_first_address') },
        help: 'As your wallet shows it, to be sure that the key is the right one.',
      }),
    ],
    'Add',
  );

async function putPool({ services }: OwnVisit, form: URLSearchParams): Promise<string> {
  const xpub = given(form, 'xpub');
  const addresses = (given(form, 'addresses') ?? '').split(/\s+/).filter((line) => line !== '');
  const body = {
    network: given(form, 'network'),
    ...(xpub === null
      ? { addresses, append: true }
      : { xpub, expect_first_address: given(form, 'expect_first_address') ?? '' }),
  };
  await services.call(PutOwnPool, { params: { name: given(form, 'name') ?? '-' }, body });
  return WALLETS;
}

/** First the address, then the text to sign. */
async function addressForm(visit: OwnVisit, form: URLSearchParams): Promise<Html> {
  // After a wrong signature, the same text again.
  if (form.has('signature')) return signForm(visit, await challengeFor(visit, form));
  return fieldsForm(
    visit,
    PROOF,
    [
      html`<p>A wallet that you have proven cannot be claimed by another shop, not even by one that used it first.</p>`,
      textField({ name: 'address', label: 'Address', value: given(form, 'address'), isRequired: true, maxLength: 100 }),
    ],
    'Show the text to sign',
  );
}

const challengeFor = (visit: OwnVisit, form: URLSearchParams) =>
  visit.services.call(ChallengeOwnWallet, { params: addressIn(visit, form), author: authorOf(visit) });

const addressIn = ({ viewer }: OwnVisit, form: URLSearchParams) => ({
  ...paramsOf(viewer).params,
  address: given(form, 'address') ?? '-',
});

async function proveWallet(visit: OwnVisit, form: URLSearchParams): Promise<string | Html> {
  const signature = given(form, 'signature');
  if (signature === null) return signForm(visit, await challengeFor(visit, form));
  const params = addressIn(visit, form);
  await visit.services.call(ProveOwnWallet, { params, body: { signature }, author: authorOf(visit) });
  return WALLETS;
}

const signForm = (visit: OwnVisit, { address, text }: WalletChallenge): Html =>
  fieldsForm(
    visit,
    PROOF,
    [
      html`<p>Sign exactly this text in your wallet ("sign message"), and paste the signature here.</p>
        <pre data-copy="${text}">${text}</pre>
        <input type="hidden" name="address" value="${address}" />`,
      areaField({ name: 'signature', label: 'Signature', value: null, isRequired: true }),
    ],
    'Prove it',
  );
