import { html, type Html } from '@quittance/checkout-page/html.ts';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import {
  FIRST_KEY,
  RevokeApiKey,
  type ApiKey,
  type NewApiKey,
} from '@quittance/contracts/http/api-gateway/api-keys.ts';
import {
  CREATIONS_PER_MINUTE,
  type Merchant,
  type ReplacedCredentials,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import { changedFields, type AuditEntry } from '@quittance/contracts/http/audit.ts';
import type { Gate, OwnLimits } from '@quittance/contracts/http/payments/limits.ts';
import type { OwnWallet } from '@quittance/contracts/http/payments/wallets.ts';
import type { UsageDay } from '@quittance/contracts/http/quota/history.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { isUnlimited } from '@quittance/contracts/policy-defaults.ts';
import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Viewer } from './frame.ts';
import { badge, facts, factsPart, link, paymentLink, table, time, walletLink } from './parts.ts';

/** One merchant: the account, what it may do, and what was done to it. */

export const accountFacts = (merchant: Merchant): Html =>
  facts({
    Merchant: merchant.merchant_id,
    'Money to look at': link(`/merchants/${merchant.merchant_id}/transfers`, 'Unmatched transfers'),
    'Customers see': merchant.display_name,
    Account: badge(merchant.status),
    'Creations a minute': String(merchant.creations_per_minute ?? CREATIONS_PER_MINUTE),
    Registered: time(merchant.created_at),
    'Last request': time(merchant.last_request_at),
  });

/** @param commands what this operator may do, by the last segment of its address. */
export const commandLinks = (id: string, commands: readonly { name: string; label: string }[]): Html =>
  commands.length === 0
    ? html``
    : html`<ul class="actions">
        ${commands.map(({ name, label }) => html`<li>${link(`/merchants/${id}/${name}`, label)}</li>`)}
      </ul>`;

/** A restriction holds once payments enforces the version that has it. */
export const policyFacts = (policy: AccessPolicy, gate: Gate | null): Html =>
  factsPart('What it may do', {
    Access: isUnlimited(policy) ? 'unlimited' : policy.access_type,
    Creation: badge(policy.creation_paused ? 'paused' : 'active'),
    Limits: isUnlimited(policy)
      ? 'none'
      : `${policy.total_limit} in total, ${policy.daily_limit === null ? 'no daily limit' : `${policy.daily_limit} a day`}`,
    'Beta began': time(policy.beta_started_at),
    'Beta ends': time(policy.beta_expires_at),
    Enforced: `version ${gate?.policy_version ?? 0} of ${policy.policy_version}${
      (gate?.policy_version ?? 0) < policy.policy_version ? ': not yet' : ''
    }`,
  });

export const usageFacts = (limits: OwnLimits): Html =>
  factsPart('Usage', {
    'May create': limits.creation_allowed ? 'yes' : `no: ${limits.creation_block_reason?.replaceAll('_', ' ') ?? ''}`,
    Used: `${limits.requests_used} of ${limits.total_limit}`,
    Today: limits.daily_limit === null ? limits.daily_used : `${limits.daily_used} of ${limits.daily_limit}`,
    Lifetime: limits.lifetime_requests_used,
  });

const USAGE_DAYS = 14;

export const usageTable = ({ days }: { days: readonly UsageDay[] }): Html =>
  table('Payments created by day', days.slice(0, USAGE_DAYS), {
    'Day, UTC': ({ day }) => day,
    Created: ({ payments_created: created }) => created,
  });

/** The first key is replaced, never revoked; its date is that of the last time. */
export const keysTable = (
  { merchant_id: id, keys }: { merchant_id: string; keys: readonly ApiKey[] },
  viewer: Viewer,
) =>
  table('API keys', keys, {
    Name: ({ name }) => name,
    Scope: ({ scope }) => scope,
    'Created, or last rotated': ({ created_at: at }) => time(at),
    Revoked: ({ revoked_at: at }) => time(at),
    ...(mayCall(viewer, RevokeApiKey.access) && {
      Do: ({ name, revoked_at: revoked }: ApiKey) =>
        revoked !== null || name === FIRST_KEY ? null : revokeLink(id, name),
    }),
  });

const revokeLink = (id: string, name: string): Html =>
  link(`/merchants/${id}/revoke-key?${new URLSearchParams({ name }).toString()}`, 'Revoke');

export const newKeyPage = ({ merchant_id: id, name, scope, api_key: key }: NewApiKey): Html =>
  html`<p>Copy the key now: only its hash is stored, and no page shows it again.</p>
    ${facts({ 'API key': html`<code>${key}</code>`, Name: name, Scope: scope })}
    <p>${link(`/merchants/${id}`, 'I have copied it: back to the merchant')}</p>`;

export function newCredentialsPage({ still_working: still, ...replaced }: ReplacedCredentials): Html {
  const { merchant_id: id, api_key: key, rotation_secret: secret } = replaced;
  return html`<p>Copy both now: only their hashes are stored, and no page shows them again.</p>
    ${facts({ 'API key': html`<code>${key}</code>`, 'Rotation secret': html`<code>${secret}</code>` })}
    ${still === undefined ? [] : stillWorking(id, still)}
    <p>${link(`/merchants/${id}`, 'I have copied them: back to the merchant')}</p>`;
}

/** For an administrator, who may revoke what is listed. */
function stillWorking(id: string, { api_keys: keys, logins }: Required<ReplacedCredentials>['still_working']): Html {
  if (keys.length + logins.length === 0) return html`<p>No other API key and no login of this merchant works.</p>`;
  return html`<p>
      What is listed here still works. Whoever had the old credentials may have it as well: revoke the keys and disable
      the logins that are not safe.
    </p>
    ${table('API keys that still work', keys, {
      Name: ({ name }) => name,
      Scope: ({ scope }) => scope,
      Created: ({ created_at: at }) => time(at),
      Do: ({ name }) => revokeLink(id, name),
    })}
    ${table('People who can still sign in', logins, {
      Name: ({ name }) => name,
      'Last used': ({ last_used_at: at }) => time(at),
      'To disable': ({ name }) => html`<code>ops merchant login disable ${id} ${name}</code>`,
    })}`;
}

export const walletsTable = ({ wallets }: { wallets: readonly OwnWallet[] }): Html =>
  table('Wallets', wallets, {
    Wallet: ({ address }) => walletLink(address),
    Since: ({ bound_at: at }) => time(at),
    Proven: ({ proven_at: at }) => time(at),
  });

/** Of the URL the host alone: the rest may hold a secret of the merchant's. */
export const webhookFacts = (webhook: WebhookSettings | null, failed: number): Html =>
  factsPart(
    'Webhook',
    webhook === null
      ? { Webhook: 'not configured: creation answers 409 until it is' }
      : {
          Webhook: URL.parse(webhook.url)?.host ?? null,
          Events: webhook.events.join(', '),
          'Signing key': webhook.key_id,
          'Configured, or last changed': time(webhook.updated_at),
          'Failed events': failed,
        },
  );

export const ownPaymentsTable = ({ payments }: { payments: readonly Payment[] }): Html =>
  table('Newest payments', payments, {
    Payment: ({ payment_id: id }) => paymentLink(id),
    Status: ({ status }) => badge(status),
    Amount: ({ amount, currency }) => `${amount} ${currency}`,
    Order: ({ order_id: order }) => order,
    Created: ({ created_at: at }) => time(at),
    Paid: ({ paid_at: at }) => time(at),
  });

export const changesTable = (title: string, entries: readonly AuditEntry[]): Html =>
  table(title, entries, {
    When: ({ at }) => time(at),
    Who: ({ actor }) => actor,
    What: ({ action }) => action.replaceAll(/[_-]/g, ' '),
    Changed: (entry) => changedFields(entry).map(changeText).join('; '),
    Why: ({ reason }) => reason,
  });

/** `creation paused: false → true`; of a first entry, what it began with. */
const changeText = ({ field, from, to }: ReturnType<typeof changedFields>[number]): string =>
  `${field.replaceAll('_', ' ')}: ${from === null ? '' : `${valueText(from)} → `}${valueText(to)}`;

const valueText = (value: unknown): string =>
  value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
