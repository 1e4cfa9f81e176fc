import { html, type Html } from '@quittance/checkout-page/html.ts';
import { RotateOwnWebhookKey, SetOwnWebhook } from '@quittance/contracts/api/calls.ts';
import { ReadWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { webhookChoices, type WebhookChoice } from '@quittance/contracts/webhook.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { facts } from '@quittance/operator/view.ts';
import { page } from '../frame.ts';
import { htmlReply, paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { knownOr } from '../services.ts';
import { render } from '../view.ts';
import { checkField, fieldsForm, given, ownAction, ownForm, textField } from './form.ts';

export const ENDPOINT = '/my/webhooks/endpoint';
export const ROTATE = '/my/webhooks/rotate-key';

const eventNames: Record<WebhookChoice, string> = {
  PAID: 'a payment is paid',
  CHECKING: 'money has arrived and is being confirmed',
  EXPIRED: 'a payment has expired',
  CANCELLED: 'a payment was cancelled',
  TRANSFER_UNMATCHED: 'money has arrived that pays nothing',
};

/** Where a shop receives webhooks, and the key that signs them. */
export const endpointRoutes = (context: Context): Route[] => [
  ...ownForm(context, {
    path: ENDPOINT,
    title: 'Webhook address',
    role: 'owner',
    show: endpointForm,
    act: async ({ services, viewer }, form) => {
      const body = { url: given(form, 'url') ?? '', events: ['PAID', ...form.getAll('events')] };
      const saved = await services.call(SetOwnWebhook, { body });
      return saved.signing_key === undefined ? '/my/webhooks' : onceShown(saved.signing_key, saved.key_id, viewer);
    },
  }),
  ownAction(context, ROTATE, async ({ services, viewer }) => {
    const { signing_key: key, key_id: id } = await services.call(RotateOwnWebhookKey);
    return htmlReply(200, page('New signing key', viewer, onceShown(key, id, viewer)));
  }),
];

async function endpointForm(visit: OwnVisit, form: URLSearchParams): Promise<Html> {
  const now = form.has('url') ? null : await knownOr(null, visit.services.call(ReadWebhook, paramsOf(visit.viewer)));
  const chosen = now?.events ?? form.getAll('events');
  const others = webhookChoices.filter((choice) => choice !== 'PAID');
  return fieldsForm(
    visit,
    ENDPOINT,
    [
      textField({
        ...{ name: 'url', label: 'Address', value: now?.url ?? given(form, 'url'), type: 'url', maxLength: 2000 },
        ...{ isRequired: true, help: 'Where your shop receives webhooks, such as https://shop.example/quittance.' },
      }),
      html`<fieldset>
        <legend>Tell it also when</legend>
        ${others.map((choice) => checkField('events', eventNames[choice], chosen.includes(choice), choice))}
        <p class="help">It is always told when a payment is paid.</p>
      </fieldset>`,
    ],
    'Save',
  );
}

const onceShown = (key: string, id: string, viewer: OwnVisit['viewer']): Html =>
  html`<p>Put this key into your shop now. It is not shown again; the former key stops working within 24 hours.</p>
    ${render([facts({ 'signing key': key, 'key id': id })], viewer)}
    <p><a href="/my/webhooks">I have copied it</a></p>`;
