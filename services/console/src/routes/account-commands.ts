import type { Html } from '@quittance/checkout-page/html.ts';
import type { Author } from '@quittance/contracts/author.ts';
import { AddApiKey, apiKeyScopes, RevokeApiKey } from '@quittance/contracts/http/api-gateway/api-keys.ts';
import {
  BlockMerchant,
  ReplaceCredentials,
  SetCreationRate,
  UnblockMerchant,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import {
  ActivateBeta,
  ExtendBeta,
  MoveToBeta,
  PauseCreation,
  ResumeCreation,
  SetLimits,
} from '@quittance/contracts/http/quota/policy.ts';
import type { Access } from '@quittance/contracts/operator.ts';
import type { Limits } from '@quittance/contracts/policy-defaults.ts';
import { invalid } from '@quittance/http/errors.ts';
import {
  creationRateField,
  daysField,
  limitFields,
  nameField,
  scopeField,
  standardBetaText,
} from '../pages/account-fields.ts';
import { newCredentialsPage, newKeyPage } from '../pages/account.ts';
import { numberIn, optionalNumberIn } from '../session/fields.ts';
import { textIn } from '../session/form.ts';
import type { Services } from '../upstream/services.ts';

type Given = { params: { merchant_id: string }; author: Author };

/** One thing that an operator does to a merchant, as a page that asks and a form that does it. */
export type AccountCommand = {
  access: Access;
  label: string;
  question: string;
  /** @param query of the page that asks: what a link fills in. */
  fields?(query: URLSearchParams): Html[];
  /** @returns a page in place of the merchant's, where there is something to be seen once. */
  send(services: Services, given: Given, form: URLSearchParams): Promise<Html | null>;
};

const done = (): null => null;

/** What can be done to a merchant here, by the last segment of its address. The services decide who may. */
export const accountCommands: Record<string, AccountCommand> = {
  activate: {
    ...{ access: ActivateBeta.access, label: 'Start the beta', question: 'Start the beta now?' },
    send: (services, given) => services.call(ActivateBeta, given).then(done),
  },
  extend: {
    ...{ access: ExtendBeta.access, label: 'Extend the beta' },
    question: 'Let the beta last longer? It counts from its present end; usage and limits stay.',
    fields: () => [daysField('How many more days', { required: true })],
    send: (services, given, form) =>
      services.call(ExtendBeta, { ...given, body: { days: numberIn(form, 'days') } }).then(done),
  },
  pause: {
    ...{ access: PauseCreation.access, label: 'Pause', question: 'Stop new payments? Everything else goes on.' },
    send: (services, given) => services.call(PauseCreation, given).then(done),
  },
  resume: {
    ...{ access: ResumeCreation.access, label: 'Resume', question: 'Allow new payments again?' },
    send: (services, given) => services.call(ResumeCreation, given).then(done),
  },
  block: {
    ...{ access: BlockMerchant.access, label: 'Block' },
    question: 'Lock the account? Its API key answers 401 and its webhooks are held; open payments are still settled.',
    send: (services, given) => services.call(BlockMerchant, given).then(done),
  },
  unblock: {
    ...{ access: UnblockMerchant.access, label: 'Unblock', question: 'Open the account again?' },
    send: (services, given) => services.call(UnblockMerchant, given).then(done),
  },
  'set-limits': {
    ...{ access: SetLimits.access, label: 'Set limits' },
    question: 'Set one limit or both? What is left empty stays as it is.',
    fields: limitFields,
    send: (services, given, form) => services.call(SetLimits, { ...given, body: limitsIn(form) }).then(done),
  },
  'set-creation-rate': {
    ...{ access: SetCreationRate.access, label: 'Set creations a minute' },
    question:
      'How many creations a minute may all its customers share? Left empty, it is the number of the contract again.',
    fields: () => [creationRateField()],
    send: (services, given, form) => {
      const body = { creations_per_minute: optionalNumberIn(form, 'creations_per_minute') };
      return services.call(SetCreationRate, { ...given, body }).then(done);
    },
  },
  'move-to-beta': {
    ...{ access: MoveToBeta.access, label: 'Move to beta' },
    question: `Make a legacy account a beta? There is no way back, and it creates nothing until the beta is started. ${standardBetaText}, unless it says otherwise here. The total counts from zero.`,
    fields: () => [...limitFields(), daysField('How many days from its start', { required: false })],
    send: (services, given, form) => {
      const days = optionalNumberIn(form, 'days');
      const body = { ...limitsIn(form), ...(days !== null && { beta_duration_days: days }) };
      return services.call(MoveToBeta, { ...given, body }).then(done);
    },
  },
  'replace-credentials': {
    ...{ access: ReplaceCredentials.access, label: 'Replace credentials' },
    question:
      'Replace the API key and the rotation secret? The old ones stop working at once. Further API keys and logins do not: the next page lists them, and shows the new credentials once.',
    send: async (services, given) => newCredentialsPage(await services.call(ReplaceCredentials, given)),
  },
  'add-key': {
    ...{ access: AddApiKey.access, label: 'Add an API key' },
    question: 'Add a further API key? It is shown once, on the next page.',
    fields: () => [nameField(), scopeField()],
    send: async (services, given, form) => {
      const scope = apiKeyScopes.find((one) => one === form.get('scope'));
      if (scope === undefined) throw invalid({ field: 'scope', reason: `must be one of ${apiKeyScopes.join(', ')}` });
      return newKeyPage(await services.call(AddApiKey, { ...given, body: { name: textIn(form, 'name', 60), scope } }));
    },
  },
  'revoke-key': {
    ...{ access: RevokeApiKey.access, label: 'Revoke an API key' },
    question: 'Revoke a further API key? It answers 401 from now on and cannot come back.',
    fields: (query) => [nameField(query.get('name') ?? '')],
    send: (services, given, form) =>
      services.call(RevokeApiKey, { ...given, body: { name: textIn(form, 'name', 60) } }).then(done),
  },
};

/** What the form gives of the two limits. */
function limitsIn(form: URLSearchParams): Limits {
  const [total, daily] = [optionalNumberIn(form, 'total_limit'), optionalNumberIn(form, 'daily_limit')];
  const none = form.get('no_daily_limit') === 'yes';
  if (none && daily !== null) throw invalid({ field: 'daily_limit', reason: 'must be empty where there is none' });
  return {
    ...(total !== null && { total_limit: total }),
    ...((daily !== null || none) && { daily_limit: daily }),
  };
}
