import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Credentials, Merchant, ReplacedCredentials } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Gate, OwnLimits } from '@quittance/contracts/http/payments/limits.ts';
import type { UsageDay } from '@quittance/contracts/http/quota/history.ts';
import { isUnlimited } from '@quittance/contracts/policy-defaults.ts';
import { oneLine, record, table } from '../text.ts';

/** Each is null when its service does not know the merchant yet, and absent when it did not answer. */
type WholeMerchant = {
  merchant?: Merchant;
  policy?: AccessPolicy | null;
  gate?: Gate | null;
  limits?: OwnLimits | null;
};

export const merchantsView = ({ merchants }: { merchants: readonly Merchant[] }): string =>
  table(merchants, {
    merchant: 'merchant_id',
    name: 'name',
    'shown as': 'display_name',
    status: 'status',
    registered: 'created_at',
    'last request': 'last_request_at',
  });

export const accountView = (account: Merchant): string =>
  record({
    merchant: account.merchant_id,
    name: account.name,
    account: account.status,
    ...creationRate(account),
    registered: account.created_at,
    'last request': account.last_request_at,
  });

const creationRate = ({ creations_per_minute: rate }: Merchant) =>
  typeof rate === 'number' && { 'creations a minute': String(rate) };

export const credentialsView = (created: Credentials): string =>
  record({ merchant: created.merchant_id, 'API key': created.api_key, 'rotation secret': created.rotation_secret });

/** With what goes on working, which whoever had the old credentials may have too. */
export function replacedView({ still_working: still, ...replaced }: ReplacedCredentials): string {
  const parts = [credentialsView(replaced), ...(still === undefined ? [] : stillWorkingText(replaced, still))];
  return parts.join('\n\n');
}

function stillWorkingText(
  { merchant_id: id }: Credentials,
  { api_keys: keys, logins }: Required<ReplacedCredentials>['still_working'],
): string[] {
  if (keys.length + logins.length === 0) return ['No other API key and no login of this merchant works.'];
  const keyTable = table(keys, { 'API key': 'name', scope: 'scope', created: 'created_at' });
  const loginTable = table(logins, { login: 'name', created: 'created_at', 'last used': 'last_used_at' });
  return [
    ...(keys.length === 0
      ? []
      : [`These API keys still work. To end one: ops merchant key revoke ${id} --name NAME\n${keyTable}`]),
    ...(logins.length === 0
      ? []
      : [`These people can still sign in. To end it: ops merchant login disable ${id} NAME\n${loginTable}`]),
  ];
}

export const policyView = (policy: AccessPolicy): string =>
  record({
    merchant: policy.merchant_id,
    ...(!policy.account_active && { account: 'blocked' }),
    ...accessFields(policy),
  });

export const usageView = ({ days }: { days: readonly UsageDay[] }): string =>
  table(days, { 'day (UTC)': 'day', 'payments created': 'payments_created' });

/** What an operator wants to know first about a merchant, from all three services at once. */
export const wholeMerchantView = ({ merchant, policy, gate, limits }: WholeMerchant): string =>
  record({
    ...(merchant === undefined
      ? policy?.account_active === false && { account: 'blocked' }
      : {
          merchant: merchant.merchant_id,
          name: merchant.name,
          ...(merchant.display_name !== null && { 'shown as': merchant.display_name }),
          account: `${merchant.status}, registered ${day(merchant.created_at)}`,
          ...creationRate(merchant),
          'last request': merchant.last_request_at ?? 'none yet',
        }),
    ...(policy === null && { access: 'quota does not know this merchant yet' }),
    ...(policy && accessFields(policy)),
    ...(gate === null && { enforced: 'payments does not know this merchant yet' }),
    ...(gate && {
      enforced: `version ${gate.policy_version}${policy ? ` of ${policy.policy_version}` : ''}`,
      ...(gate.proven_wallets?.length && { 'proven wallets': gate.proven_wallets.join(', ') }),
      webhook: gate.webhook_ok ? 'configured' : 'not configured: creation answers 409 until it is',
    }),
    ...(limits && usageFields(limits)),
  });

function accessFields(policy: AccessPolicy) {
  const daily = policy.daily_limit === null ? 'no daily limit' : `${policy.daily_limit} a UTC day`;
  return {
    access: accessText(policy),
    creation: policy.creation_paused ? 'paused' : 'not paused',
    limits: isUnlimited(policy) ? 'unlimited' : `${policy.total_limit} in total, ${daily}`,
    'policy version': String(policy.policy_version),
  };
}

function accessText({ access_type, beta_duration_days, beta_started_at, beta_expires_at }: AccessPolicy): string {
  if (access_type === 'legacy') return 'legacy, without an end';
  if (beta_started_at === null || beta_expires_at === null)
    return `beta of ${beta_duration_days ?? '?'} days, not activated`;
  return `beta of ${beta_duration_days ?? '?'} days, from ${minute(beta_started_at)} to ${minute(beta_expires_at)}`;
}

function usageFields(limits: OwnLimits) {
  const { creation_block_reason: reason, daily_left: dailyLeft } = limits;
  const today = dailyLeft === null ? '' : `, ${dailyLeft} left until ${minute(limits.daily_reset_at)}`;
  return {
    'may create': reason === null ? 'yes' : `no: ${reason}`,
    used: isUnlimited(limits)
      ? `${limits.requests_used}, unlimited`
      : `${limits.requests_used} of ${limits.total_limit}, ${limits.requests_left} left`,
    today: `${limits.daily_used}${today}`,
    lifetime: String(limits.lifetime_requests_used),
  };
}

const day = (time: string): string => oneLine(time).slice(0, 10);
const minute = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;
