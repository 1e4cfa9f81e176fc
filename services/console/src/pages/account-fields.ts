import { html, type Html } from '@quittance/checkout-page/html.ts';
import { apiKeyScopes } from '@quittance/contracts/http/api-gateway/api-keys.ts';
import { CREATIONS_PER_MINUTE, CREATIONS_PER_MINUTE_MAX } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { LIMIT_MAX, MAX_BETA_DAYS, standardBeta } from '@quittance/contracts/policy-defaults.ts';

/** What the commands about a merchant ask for besides the reason. A field that is left empty changes nothing. */

export const daysField = (label: string, { required }: { required: boolean }): Html =>
  numberField('days', label, { max: MAX_BETA_DAYS, required });

export const limitFields = (): Html[] => [
  numberField('total_limit', 'Payments in total', { max: LIMIT_MAX, required: false }),
  numberField('daily_limit', 'Payments in a UTC day', { max: LIMIT_MAX, required: false }),
  html`<label class="check"><input type="checkbox" name="no_daily_limit" value="yes" /> No daily limit</label>`,
];

export const creationRateField = (): Html =>
  numberField('creations_per_minute', `Creations a minute, ${CREATIONS_PER_MINUTE} or more`, {
    max: CREATIONS_PER_MINUTE_MAX,
    required: false,
  });

export const standardBetaText = `${standardBeta.total_limit} payments, ${standardBeta.daily_limit} a day, for ${standardBeta.beta_duration_days} days`;

export const nameField = (value = ''): Html =>
  html`<label for="name">What uses it; no two working keys have one name</label>
    <input id="name" name="name" value="${value}" required maxlength="60" autocomplete="off" />`;

export const scopeField = (): Html =>
  html`<label for="scope">What it may do</label>
    <select id="scope" name="scope">
      ${apiKeyScopes.map((scope) => html`<option value="${scope}">${scopeTexts[scope]}</option>`)}
    </select>`;

const scopeTexts = { all: 'everything', read: 'only read' } as const;

const numberField = (name: string, label: string, { max, required }: { max: number; required: boolean }): Html =>
  html`<label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="number"
      min="0"
      max="${String(max)}"
      inputmode="numeric"
      autocomplete="off"
      ${required ? html` required` : []}
    />`;
