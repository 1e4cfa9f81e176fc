import { parseAddress } from '@quittance/contracts/address.ts';
import type { Author } from '@quittance/contracts/author.ts';
import {
  ChallengeOwnWallet,
  ChallengeWallet,
  ListWallets,
  ProveOwnWallet,
  ProveWallet,
  ReadWallet,
  ReleaseWallet,
  type ProvenWallet,
  type WalletChallenge,
} from '@quittance/contracts/http/payments/wallets.ts';
import { rfc3339, withTextTimes } from '@quittance/runtime/time.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { findUnmatchedOnWallet } from '../payment/view.sql.ts';
import { listWallets, readWallet, releaseWallet } from './wallet.sql.ts';
import { findProofs } from './proof.sql.ts';
import { toUnmatched } from '../finding/unmatched.ts';
import { challengeWallet, proveWallet, type ProvingContext } from './prove.ts';

/** A wallet's owner, for the operator, its proof and its release. */
export const walletRoutes = (context: ProvingContext): Route[] => [
  callRoute(ReadWallet, async ({ params }) => {
    const address = canonical(params.address);
    const { db, networks } = context;
    const { merchant_id, bound_at, proven_at, releases } = await readWallet(db, address);
    const proofs = await findProofs(db, address);
    const unmatched = await findUnmatchedOnWallet(db, address, networks);
    return {
      address,
      merchant_id,
      bound_at: bound_at && rfc3339(bound_at),
      proven_at: proven_at && rfc3339(proven_at),
      releases: releases.map(withTextTimes),
      proofs: proofs.map(withTextTimes),
      unmatched_transfers: unmatched.map((transfer) => toUnmatched(transfer, null)),
    };
  }),
  callRoute(ListWallets, async ({ params }) => ({
    wallets: (await listWallets(context.db, params.merchant_id)).map(withTextTimes),
  })),
  callRoute(ReleaseWallet, async ({ params, author }) => {
    const address = canonical(params.address);
    const merchantId = await releaseWallet(context.db, address, author);
    if (merchantId === null) throw new HttpError(404, 'This wallet belongs to no merchant');
    return { address, merchant_id: merchantId };
  }),
  callRoute(ChallengeWallet, ({ params: { address }, body: { merchant_id } }) =>
    challenge(context, { address, merchant_id }),
  ),
  callRoute(ProveWallet, ({ params: { address }, body: { merchant_id, signature }, author }) =>
    prove(context, { address, merchant_id }, { signature, author }),
  ),
  callRoute(ChallengeOwnWallet, ({ params }) => challenge(context, params)),
  callRoute(ProveOwnWallet, ({ params, body: { signature }, author }) => prove(context, params, { signature, author })),
];

type Claim = { address: string; merchant_id: string };

async function challenge(context: ProvingContext, { address: given, merchant_id }: Claim): Promise<WalletChallenge> {
  const address = canonical(given);
  const { text, ends_at } = await challengeWallet(context, { address, merchantId: merchant_id });
  return { address, merchant_id, text, ends_at: rfc3339(ends_at) };
}

async function prove(
  context: ProvingContext,
  { address, merchant_id: merchantId }: Claim,
  proof: { signature: string; author: Author },
): Promise<ProvenWallet> {
  return withTextTimes(await proveWallet(context, { address: canonical(address), merchantId }, proof));
}

/** @throws HttpError 422 for a text that is no address. */
function canonical(address: string): string {
  const wallet = parseAddress(address);
  if (wallet === null) throw invalid({ field: 'address', reason: 'is no wallet address' });
  return wallet.address;
}
