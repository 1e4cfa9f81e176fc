import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Finding, TransferId } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { type ServiceClient, ServiceUnavailable } from '@quittance/http/client/client.ts';
import type { Chain, Owners } from '../../src/clients.ts';
import type { MerchantStart, PolicyChange } from './plan.ts';
import { timestamp, type OtherServices } from './steps.ts';
import { DAY, type Usage } from './rules.ts';
import { transferKey } from './state.ts';
import { floorSecond, intervalOf } from './whose-money.ts';

/* The services around payments: the run sets what they know. */

export const ownersIn = ({ quota, endpoints, down }: OtherServices): Owners => ({
  async policy(merchantId) {
    if (down.has('quota')) throw new ServiceUnavailable('quota');
    return quota.get(merchantId) ?? null;
  },
  async webhookChoice(merchantId) {
    if (down.has('webhooks')) throw new ServiceUnavailable('webhook-dispatcher');
    const events = endpoints.get(merchantId);
    return events === undefined ? null : { events: [...events], version: 1 };
  },
});

/** What the chain shows of one transfer when chain-watcher reads it again: the last version. */
export function findingOf({ chain }: OtherServices, key: string): Finding {
  const last = chain.get(key)?.at(-1);
  if (last === undefined) return { finding: 'absent', reason: 'no_receipt' };
  if (last.phase === 'retracted') return { finding: 'absent', reason: 'orphaned' };
  const { block_number, block_hash, block_timestamp, from, to, amount_units, decimals } = last;
  const { confirmations, confirmations_required } = last;
  return {
    ...{ finding: 'present', is_final: last.phase === 'confirmed' },
    ...{ block_number, block_hash, block_timestamp, from, to, amount_units, decimals },
    ...{ confirmations, confirmations_required },
  };
}

export const verifierIn = (services: OtherServices): Pick<ServiceClient, 'call'> => ({
  // Nothing else is asked of this client.
  call: (async (_call: unknown, { body }: { body: TransferId }) => {
    if (services.down.has('chain')) throw new ServiceUnavailable('chain-watcher');
    const { network, transaction_id: id, transaction_event_index: index } = body;
    return await Promise.resolve(findingOf(services, transferKey({ network, id, index })));
  }) as unknown as ServiceClient['call'],
});

export type ChainAnswer = {
  /** Everything before this is final and scanned; null when nothing is. */
  scannedThrough: number | null;
  /** The version before the last one of each transfer: an endpoint that lags. */
  old: boolean;
  /** Questions that name this wallet cannot be answered. */
  unknownWallet: string | null;
};

export const chainIn = (
  { chain, down }: OtherServices,
  { scannedThrough, old, unknownWallet }: ChainAnswer,
): Chain => ({
  async transfersIn(network, windows) {
    if (down.has('chain')) throw new ServiceUnavailable('chain-watcher');
    const known = scannedThrough !== null && !windows.some(({ recipient }) => recipient === unknownWallet);
    const transfers = [...chain.values()].flatMap((versions) => versions.at(old ? -2 : -1) ?? versions.at(-1) ?? []);
    return {
      scannedThrough: known ? new Date(scannedThrough) : null,
      transfers: transfers.filter(
        (transfer) =>
          transfer.network === network &&
          transfer.phase !== 'retracted' &&
          windows.some((window) => isIn(transfer, window)),
      ),
    };
  },
});

type Windows = Parameters<Chain['transfersIn']>[1];

/** As in chain-watcher's contract: transfers that may have been made in the window, in a block whose time is not minutes away from it. */
function isIn(transfer: TransferObserved, { recipient, amount, from, to }: Windows[number]): boolean {
  const units = amount === undefined ? null : parseAmount(amount);
  const blockTime = Date.parse(transfer.block_timestamp);
  const firstSeen = transfer.first_seen_at === undefined ? null : Date.parse(transfer.first_seen_at);
  const made = intervalOf({ blockTime, firstSeen, live: transfer.live ?? false });
  const begin = floorSecond(from.getTime());
  const end = to.getTime();
  return (
    transfer.to === recipient &&
    (amount === undefined ||
      (units !== null && BigInt(transfer.amount_units) === toTokenUnits(units, transfer.decimals))) &&
    begin <= made.to &&
    made.from < end &&
    begin - REACH < blockTime &&
    blockTime < end + REACH
  );
}

/** How far a chain's clock may be wrong. */
export const REACH = 150_000;

const BETA_DAYS = 2;

export const firstPolicy = (merchant: string, { beta, active, total, daily }: MerchantStart): AccessPolicy => ({
  merchant_id: merchant,
  policy_version: 1,
  access_type: beta ? 'beta' : 'legacy',
  account_active: active,
  creation_paused: false,
  beta_duration_days: beta ? BETA_DAYS : null,
  beta_started_at: null,
  beta_expires_at: null,
  total_limit: total,
  daily_limit: daily,
  package_number: 1,
});

/** An operator's change of a policy, as quota's next version; an invalid change only increases the version. */
export function changed(policy: AccessPolicy, change: PolicyChange, used: Usage, now: number): AccessPolicy {
  const next = { ...policy, policy_version: policy.policy_version + 1 };
  const days = policy.beta_duration_days;
  switch (change.change) {
    case 'pause':
      return { ...next, creation_paused: true };
    case 'resume':
      return { ...next, creation_paused: false };
    case 'block':
      return { ...next, account_active: false };
    case 'unblock':
      return { ...next, account_active: true };
    case 'limits':
      return { ...next, total_limit: change.total, daily_limit: change.daily };
    case 'one more':
      return {
        ...next,
        account_active: true,
        creation_paused: false,
        total_limit: used.inPackage + 1,
        daily_limit: null,
      };
    case 'activate':
      if (days === null || policy.beta_started_at !== null) return next;
      return { ...next, beta_started_at: timestamp(now), beta_expires_at: timestamp(now + days * DAY) };
    case 'extend':
      if (days === null || policy.beta_started_at === null) return next;
      return {
        ...next,
        beta_duration_days: days + 1,
        beta_expires_at: timestamp(Date.parse(policy.beta_started_at) + (days + 1) * DAY),
      };
    case 'move to beta':
      if (policy.access_type === 'beta') return next;
      return {
        ...next,
        access_type: 'beta',
        beta_duration_days: BETA_DAYS,
        total_limit: 3,
        daily_limit: 2,
        package_number: policy.package_number + 1,
      };
  }
}
