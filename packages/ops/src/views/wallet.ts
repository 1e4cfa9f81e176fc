import type { ReleasedWallet, Wallet } from '@quittance/contracts/http/payments/wallets.ts';
import { record, sections, table } from '../text.ts';

export function walletView({ address, merchant_id, bound_at, releases }: Wallet): string {
  const wallet = record({
    wallet: address,
    'belongs to': merchant_id ?? 'nobody: the next merchant to use it gets it',
    ...(merchant_id !== null && { since: bound_at }),
  });
  if (releases.length === 0) return wallet;
  const past = table(releases, { when: 'released_at', who: 'actor', 'taken from': 'merchant_id', why: 'reason' });
  return `${wallet}\n\n${sections([['released', past]])}`;
}

export const releasedView = ({ address, merchant_id }: ReleasedWallet): string =>
  record({ wallet: address, 'taken from': merchant_id });
