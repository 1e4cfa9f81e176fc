import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { ReadMerchant } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Gate, OwnLimits } from '@quittance/contracts/http/payments/gate.ts';
import * as policy from '@quittance/contracts/http/quota.ts';
import * as defaults from '@quittance/contracts/access.ts';
import { count, countOrNone, merchantId, needed, option, word, type Form } from './field.ts';
import { callRow, type Page, type Services } from './row.ts';
import { badge, facts, isTime, shortTime, type Value, type View } from './view.ts';

export const merchant = word('merchant', merchantId, 'merchant id');

/** What is done to one merchant, asked on a page that leads back to it. A person knows merchants by name and mistypes ids. */
export const onMerchant = (action: string, label: string, more: Pick<Page, 'isSecret' | 'isDanger'> = {}) => ({
  fields: { merchant_id: merchant },
  page: { path: `/merchants/:merchant_id/${action}`, label, back: '/merchants/:merchant_id', ...more },
  async subject({ merchant_id }: { merchant_id: string }, services: Services): Promise<string> {
    const { name } = await services.call(ReadMerchant, { params: { merchant_id } });
    return `"${name}" (${merchant_id})`;
  },
});

const { total_limit: total, daily_limit: daily, beta_duration_days: betaDays } = defaults.standardBeta;
export const standardText = `${total} payments, ${daily} a UTC day, for ${betaDays} days`;

export const numberForm = (max: number, label?: string): Form => ({ input: 'number', max, ...(label && { label }) });
export const limits = {
  total_limit: option('--total <n>', count, 'payments allowed in total', {
    form: numberForm(defaults.LIMIT_MAX),
  }),
  daily_limit: option('--daily <n>', countOrNone, 'payments allowed in a UTC day', {
    form: { ...numberForm(defaults.LIMIT_MAX), none: 'No daily limit' },
  }),
};
export const days = option('--days <n>', count, 'how many days a beta lasts from its activation', {
  form: numberForm(defaults.MAX_BETA_DAYS),
});
type LimitValues = { total_limit: number | undefined; daily_limit: number | null | undefined };

const limitsOf = ({ total_limit: all, daily_limit: ofDay }: LimitValues): defaults.Limits => ({
  ...(all !== undefined && { total_limit: all }),
  ...(ofDay !== undefined && { daily_limit: ofDay }),
});
export const betaOf = (values: LimitValues & { days: number | undefined }): defaults.BetaConditions => ({
  ...limitsOf(values),
  ...(values.days !== undefined && { beta_duration_days: values.days }),
});
const ofMerchant = ({ merchant_id }: { merchant_id: string }) => ({ params: { merchant_id } });

export const activateBeta = callRow('merchant activate', policy.ActivateBeta, {
  does: 'start the beta; its days count from now',
  more: 'Do it once the credentials have arrived.',
  ...onMerchant('activate', 'Start the beta'),
  view: (changed) => policyView(changed),
});

export const extendBeta = callRow('merchant extend', policy.ExtendBeta, {
  does: 'move the end of an activated beta; usage and limits stay',
  more: 'It counts from the present end: after a long pause the days must reach past today. Repeating it extends the beta again.',
  ...onMerchant('extend', 'Extend the beta'),
  fields: {
    merchant_id: merchant,
    days: needed('--days <n>', count, 'how many more days', {
      form: numberForm(defaults.MAX_BETA_DAYS),
    }),
  },
  view: (changed) => policyView(changed),
  note: ({ beta_expires_at: end }) =>
    end !== null && Date.parse(end) <= Date.now() ? `The beta is still over: its end is now ${end}.` : null,
});

export const setLimits = callRow('merchant set-limits', policy.SetLimits, {
  does: 'set one limit or both, of a beta or a legacy account',
  more: 'A limit that is not given stays as it is.',
  // A limit may go up or down, and only the services know from where: waiting is right for both.
  waitSeconds: 15,
  ...onMerchant('set-limits', 'Set limits'),
  fields: { merchant_id: merchant, ...limits },
  missing: (values) => (Object.keys(limitsOf(values)).length === 0 ? 'Give --total, --daily or both.' : null),
  given: (values) => ({ ...ofMerchant(values), body: limitsOf(values) }),
  view: (changed) => policyView(changed),
});

export const moveToBeta = callRow('merchant move-to-beta', policy.MoveToBeta, {
  does: `make a legacy account a beta that waits for its activation: ${standardText}, or as given`,
  more: 'Its total counts from zero; the count of the day and lifetime usage go on. It cannot go back.',
  waitSeconds: 15,
  asks: true,
  ...onMerchant('move-to-beta', 'Move to beta', { isDanger: true }),
  fields: { merchant_id: merchant, ...limits, days },
  given: (values) => ({ ...ofMerchant(values), body: betaOf(values) }),
  view: (changed) => policyView(changed),
});

export const pauseCreation = callRow('merchant pause', policy.PauseCreation, {
  does: 'stop new payments; everything else goes on',
  waitSeconds: 15,
  ...onMerchant('pause', 'Pause'),
  view: (changed) => policyView(changed),
});

export const resumeCreation = callRow('merchant resume', policy.ResumeCreation, {
  does: 'allow new payments again',
  ...onMerchant('resume', 'Resume'),
  view: (changed) => policyView(changed),
});

export const accessRows = [activateBeta, extendBeta, setLimits, moveToBeta, pauseCreation, resumeCreation];

const policyView = (shown: AccessPolicy): View => [
  facts({
    merchant: shown.merchant_id,
    ...(!shown.account_active && { account: 'blocked' }),
    ...accessFields(shown),
  }),
];

/** A restriction holds once payments enforces the version that has it. */
export const enforcedText = (wanted: AccessPolicy | null, gate: Gate): string =>
  `version ${gate.policy_version}${wanted === null ? '' : ` of ${wanted.policy_version}`}${
    wanted !== null && gate.policy_version < wanted.policy_version ? ': not yet' : ''
  }`;

export function accessFields(shown: AccessPolicy): Record<string, Value> {
  const ofDay = shown.daily_limit === null ? 'no daily limit' : `${shown.daily_limit} a UTC day`;
  return {
    access: accessText(shown),
    creation: shown.creation_paused ? badge('paused') : badge('not paused'),
    limits: defaults.isUnlimited(shown) ? 'unlimited' : `${shown.total_limit} in total, ${ofDay}`,
    'policy version': String(shown.policy_version),
  };
}

function accessText({ access_type, beta_duration_days, beta_started_at, beta_expires_at }: AccessPolicy): string {
  if (access_type === 'legacy') return 'legacy, without an end';
  if (beta_started_at === null || beta_expires_at === null)
    return `beta of ${beta_duration_days ?? '?'} days, not activated`;
  return `beta of ${beta_duration_days ?? '?'} days, from ${minute(beta_started_at)} to ${minute(beta_expires_at)}`;
}

export function usageFields(own: OwnLimits): Record<string, Value> {
  const { creation_block_reason: reason, daily_left: left } = own;
  const today = left === null ? '' : `, ${left} left until ${minute(own.daily_reset_at)}`;
  return {
    'may create': reason === null ? 'yes' : `no: ${reason}`,
    used: defaults.isUnlimited(own)
      ? `${own.requests_used}, unlimited`
      : `${own.requests_used} of ${own.total_limit}, ${own.requests_left} left`,
    today: `${own.daily_used}${today}`,
    lifetime: String(own.lifetime_requests_used),
  };
}

/** Not every answer has every time: one that is missing is shown as such, and nothing else is lost. */
const minute = (time: string): string => (isTime(time) ? `${shortTime(time).slice(0, 16)}Z` : time);
