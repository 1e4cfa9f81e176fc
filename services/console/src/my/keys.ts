import { html } from '@quittance/checkout-page/html.ts';
import {
  AddApiKey,
  apiKeyScopes,
  FIRST_KEY,
  ListApiKeys,
  RevokeApiKey,
  type ApiKey,
  type ApiKeyScope,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { facts } from '@quittance/operator/view.ts';
import { timeOf } from '../cell.ts';
import { paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { render } from '../view.ts';
import { button, choiceField, fieldsForm, given, ownAction, ownForm, textField } from './form.ts';

const KEYS = '/my/keys';

const scopeNames: Record<ApiKeyScope, string> = {
  all: 'everything',
  orders: 'payments: create, cancel, read, and send events again',
  read: 'only read',
};

/** Why a person has made a change at the console, for the audit log. */
export const authorOf = ({ viewer }: Pick<OwnVisit, 'viewer'>) => ({ actor: viewer.name, reason: 'at the console' });

/** The keys of the shop's programs. */
export const keyRoutes = (context: Context): Route[] => [
  ...ownForm(context, {
    path: KEYS,
    title: 'API keys',
    role: 'owner',
    show: async (visit, form) => {
      const { keys } = await visit.services.call(ListApiKeys, paramsOf(visit.viewer));
      return html`${keys.map((key) => keyCard(visit, key))}
        <section>
          <h2>Add a key</h2>
          ${fieldsForm(
            visit,
            KEYS,
            [
              textField({
                name: 'name',
                label: 'What uses it',
                value: given(form, 'name'),
                isRequired: true,
                maxLength: 60,
              }),
              choiceField('scope', 'What it may do', [...apiKeyScopes], given(form, 'scope') ?? 'orders', {
                names: scopeNames,
              }),
            ],
            'Add the key',
          )}
        </section>`;
    },
    act: async (visit, form) => {
      const body = { name: given(form, 'name') ?? '', scope: (given(form, 'scope') ?? 'read') as ApiKeyScope };
      const added = await visit.services.call(AddApiKey, { ...paramsOf(visit.viewer), body, author: authorOf(visit) });
      return html`<p>Copy it now: only a hash is stored, and no page shows it again.</p>
        ${render([facts({ name: added.name, 'API key': added.api_key })], visit.viewer)}
        <p><a href="${KEYS}">I have copied it</a></p>`;
    },
  }),
  ownAction(context, '/my/keys/revoke', async (visit, form) => {
    const body = { name: given(form, 'name') ?? '' };
    await visit.services.call(RevokeApiKey, { ...paramsOf(visit.viewer), body, author: authorOf(visit) });
    return KEYS;
  }),
];

const keyCard = (visit: OwnVisit, { name, scope, created_at: created, revoked_at: revoked }: ApiKey) =>
  html`<div class="card">
    <strong>${name}</strong>
    <p class="quiet-text">
      May do ${scopeNames[scope]}. Made ${timeOf(created)}${revoked === null ? '' : html`, revoked ${timeOf(revoked)}`}
    </p>
    ${revoked !== null || name === FIRST_KEY ? [] : button(visit, '/my/keys/revoke', `Revoke ${name}`, { name }, 'danger')}
  </div>`;
