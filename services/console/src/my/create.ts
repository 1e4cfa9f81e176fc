import { randomUUID } from 'node:crypto';
import { html, type Html } from '@quittance/checkout-page/html.ts';
import { CreateOwnPayment, ListOwnPools, ReadOwnRates } from '@quittance/contracts/api/calls.ts';
import { ListWallets } from '@quittance/contracts/http/payments/wallets.ts';
import { invalid } from '@quittance/http/errors.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { MERCHANT_HOME } from '../cell.ts';
import { paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { partOf } from '../services.ts';
import { checkField, choiceField, fieldsForm, given, ownForm, textField } from './form.ts';

export const CREATE = '/my/new-payment';

/** How long a payment may wait, in seconds. */
const times = { '': 'as usual', '900': '15 minutes', '3600': '1 hour', '14400': '4 hours', '86400': '1 day' };

/** A payment by hand: for an invoice, an order by phone, or a table in a restaurant. */
export const createRoutes = (context: Context): Route[] =>
  ownForm(context, {
    path: CREATE,
    title: 'New payment',
    role: 'staff',
    show: createForm,
    act: async ({ services }, form) => {
      // The form has the key, so that sending it twice makes one payment.
      const headers = { 'idempotency-key': given(form, 'key') ?? randomUUID() };
      const { payment_id: id } = await services.call(CreateOwnPayment, { body: creationOf(form), headers });
      return `${MERCHANT_HOME}/${id}`;
    },
  });

async function createForm(visit: OwnVisit, form: URLSearchParams): Promise<Html> {
  const { services, viewer } = visit;
  const [wallets, pools, rates] = await Promise.all([
    partOf(services.call(ListWallets, paramsOf(viewer))),
    partOf(services.call(ListOwnPools)),
    partOf(services.call(ReadOwnRates)),
  ]);
  const known = 'value' in wallets ? wallets.value.wallets.map(({ address }) => address) : [];
  const poolNames = 'value' in pools ? pools.value.pools.map(({ name }) => name) : [];
  const currencies = 'value' in rates ? rates.value.rates.map(({ currency }) => currency) : [];
  const value = (name: string) => given(form, name);
  return fieldsForm(
    visit,
    CREATE,
    [
      html`<input type="hidden" name="key" value="${value('key') ?? randomUUID()}" />`,
      textField({ name: 'amount', label: 'Amount', value: value('amount'), isRequired: true, maxLength: 20 }),
      currencies.length === 0
        ? html``
        : choiceField('currency', 'Currency', ['USDT', ...currencies], value('currency') ?? 'USDT', {
            help: 'Other money is converted to USDT now, and the customer sees both.',
          }),
      textField({
        ...{ name: 'description', label: 'What it is for', value: value('description'), isRequired: true },
        help: 'Your customer reads this. Anyone with the link can, so leave out names and addresses.',
      }),
      poolNames.length === 0
        ? html``
        : choiceField('wallet_pool', 'Address', [...poolNames, ''], form.get('wallet_pool') ?? poolNames[0] ?? '', {
            names: {
              '': 'the wallet below',
              ...Object.fromEntries(poolNames.map((name) => [name, `a new one of the pool ${name}`])),
            },
          }),
      walletField(value('merchant_wallet') ?? (poolNames.length === 0 ? (known[0] ?? '') : ''), known),
      moreFields(form),
    ],
    'Create the payment',
  );
}

/** @param known the wallets that the merchant has used. */
const walletField = (wallet: string, known: readonly string[]): Html =>
  html`<datalist id="wallets">${known.map((address) => html`<option value="${address}"></option>`)}</datalist>
    <label for="merchant_wallet">Wallet</label>

    <input
      id="merchant_wallet"
      name="merchant_wallet"
      list="wallets"
      value="${wallet}"
      maxlength="100"
      autocomplete="off"
      aria-describedby="merchant_wallet-help"
    />
    <p class="help" id="merchant_wallet-help">Your address, where the money arrives.</p>`;

/** What few payments need. */
function moreFields(form: URLSearchParams): Html {
  const value = (name: string) => given(form, name);
  return html`<details
    ${['network', 'order_id', 'expires_in', 'return_url', 'unique_amount'].some((name) => form.has(name)) ? html`open` : []}
  >
    <summary>More</summary>
    ${textField({
      ...{ name: 'network', label: 'Network', value: value('network'), maxLength: 32 },
      help: 'Empty for the usual one of the wallet.',
    })}
    ${textField({ name: 'order_id', label: 'Order number', value: value('order_id'), maxLength: 128, help: 'Only you see it.' })}
    ${choiceField('expires_in', 'Waits for the money', Object.keys(times), value('expires_in') ?? '', { names: times })}
    ${textField({
      ...{
        name: 'return_url',
        label: 'Link back to your shop',
        value: value('return_url'),
        type: 'url',
        maxLength: 2000,
      },
    })}
    ${checkField('unique_amount', 'Others may owe the same amount to this wallet now: add less than a cent to tell them apart', value('unique_amount') !== null)}
  </details>`;
}

/** As the API takes it. Empty fields are left out. */
function creationOf(form: URLSearchParams): object {
  const amount = given(form, 'amount')?.replace(',', '.');
  const currency = given(form, 'currency') ?? 'USDT';
  const pool = given(form, 'wallet_pool');
  const wallet = given(form, 'merchant_wallet');
  if (pool !== null && wallet !== null)
    throw invalid({ field: 'wallet', reason: 'must be empty where the address comes from a pool' });
  const texts = Object.fromEntries(
    ['description', 'network', 'order_id', 'return_url'].flatMap((name) => {
      const text = given(form, name);
      return text === null ? [] : [[name, text]];
    }),
  );
  const seconds = given(form, 'expires_in');
  return {
    ...(currency === 'USDT' ? { amount } : { price: { amount, currency } }),
    ...texts,
    ...(pool === null ? wallet !== null && { merchant_wallet: wallet } : { wallet_pool: pool }),
    ...(seconds !== null && { expires_in: Number(seconds) }),
    ...(given(form, 'unique_amount') !== null && { unique_amount: true }),
  };
}
