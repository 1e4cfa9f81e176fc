import {
  ChallengeWallet,
  ProveWallet,
  ReadWallet,
  ReleaseWallet,
  type ProvenWallet,
  type Wallet,
} from '@quittance/contracts/http/payments/wallets.ts';
import { address, anyText, needed, word } from './field.ts';
import { merchant } from './access.ts';
import { candidatesOf, reasonsView } from './transfers.ts';
import { callRow } from './row.ts';
import { amount, badge, facts, shortTime, tableIfAny, text, transactionOf, type View } from './view.ts';

const wallet = word('address', address, 'wallet address');

export const walletRows = [
  callRow('wallet show', ReadWallet, {
    does: 'show whose wallet it is, since when, earlier releases and proofs, and its newest unmatched transfers',
    fields: { address: wallet },
    view: (shown) => walletView(shown),
  }),
  callRow('wallet release', ReleaseWallet, {
    does: 'take a wallet from its merchant; the next merchant to use it gets it. Payments that wait on it stay as they are',
    asks: true,
    fields: { address: wallet },
    question: ({ address: released }) => `Release ${released}? Any merchant can take it then.`,
    page: { path: '/wallets/:address/release', label: 'Release', back: '/wallets/:address', isDanger: true },
    view: ({ address: released, merchant_id: from }) => [facts({ wallet: released, 'taken from': from })],
  }),
  callRow('wallet challenge', ChallengeWallet, {
    does: "print the text that the owner of the wallet's key signs for this merchant; it makes an earlier text void",
    more:
      'The text is one line, to be signed exactly as it is: `personal_sign` of an EVM wallet, `signMessageV2` of a Tron wallet (the older `sign` ' +
      'works as well). It ends after 24 hours, serves for one proof, and is void when anybody has proven the wallet.',
    fields: { merchant_id: merchant, address: wallet },
    // Nothing but the text, so that it can be given to a program that signs.
    view: (challenge) => [text(challenge.text)],
    note: ({ ends_at: end }) => `Sign it exactly as it is, before ${shortTime(end)}. Then: wallet verify`,
  }),
  callRow('wallet verify', ProveWallet, {
    does: "give a wallet to the merchant for which its key has signed, also when it was another merchant's",
    more:
      'Payments of others that wait on the wallet are cancelled; what is CHECKING or PAID stays. A proven wallet is nobody else’s, whatever ' +
      '`WALLET_BINDING` says, until a newer proof or a release. A wallet that is a contract, such as a multisig, cannot be proven (EIP-1271 is not supported).',
    asks: true,
    fields: {
      merchant_id: merchant,
      address: wallet,
      signature: needed('--signature <hex>', anyText, "the signature over the challenge's text, EIP-191 or Tron's"),
    },
    // Ask only about another merchant's wallet: its open payments are cancelled.
    async question({ merchant_id: id, address: proven }, services) {
      const { merchant_id: owner } = await services.call(ReadWallet, { params: { address: proven } });
      if (owner === null || owner === id) return null;
      return `${proven} belongs to ${owner}. Take it, and cancel the payments that wait on it?`;
    },
    view: (proof) => provenView(proof),
  }),
];

const provenView = ({
  address: proven,
  merchant_id,
  taken_from,
  cancelled_payments,
  proven_at,
}: ProvenWallet): View => [
  facts({
    wallet: proven,
    'belongs to': merchant_id,
    'proven at': proven_at,
    ...(taken_from !== null && { 'taken from': taken_from }),
    'payments cancelled': cancelled_payments,
  }),
];

export const walletView = (shown: Wallet): View => [
  facts({
    wallet: shown.address,
    'belongs to': shown.merchant_id ?? 'no merchant: the next one to use it gets it',
    ...(shown.merchant_id !== null && {
      since: shown.bound_at,
      proven: shown.proven_at ?? 'no: it only used the wallet first',
    }),
  }),
  ...tableIfAny('proven', shown.proofs, {
    when: 'proven_at',
    who: 'actor',
    'given to': 'merchant_id',
    'taken from': 'taken_from',
    'payments cancelled': 'cancelled_payments',
    why: 'reason',
  }),
  ...tableIfAny('released', shown.releases, {
    when: 'released_at',
    who: 'actor',
    'taken from': 'merchant_id',
    why: 'reason',
  }),
  ...tableIfAny('unmatched transfers', shown.unmatched_transfers, {
    reason: ({ reason }) => badge(reason),
    amount: (transfer) => amount(transfer.amount),
    payment: candidatesOf,
    phase: ({ phase }) => badge(phase),
    'block time': ({ block_timestamp: time, network }) => ({ first: time, second: network }),
    transaction: transactionOf,
    index: 'transaction_event_index',
    merchant: 'merchant_id',
  }),
  ...reasonsView(shown.unmatched_transfers),
];
