import { Container, Heading, StatusBadge, Text } from '@medusajs/ui';
import { createElement as h, useEffect, useState } from 'react';

/**
 * Shows the USDT payments of an order on its page: Medusa itself shows only amounts in the order's currency.
 * @param {{ data: { id: string } }} props
 */
function QuittancePayments({ data: { id } }) {
  const [payments, setPayments] = useState([]);
  useEffect(() => {
    // oxlint-disable-next-line no-undef -- Medusa's bundler defines it.
    const backend = typeof __BACKEND_URL__ === 'string' ? __BACKEND_URL__ : '/';
    const fields = 'payment_collections.payments.provider_id,payment_collections.payments.data';
    fetch(`${backend.replace(/\/$/, '')}/admin/orders/${id}?fields=${fields}`, { credentials: 'include' })
      .then((answer) => answer.json())
      .then(({ order }) => setPayments(ours(order)))
      .catch(() => setPayments([]));
  }, [id]);
  if (payments.length === 0) return null;
  return h(
    Container,
    { className: 'divide-y p-0' },
    h('div', { className: 'px-6 py-4' }, h(Heading, { level: 'h2' }, 'USDT payment')),
    payments.map((payment) => h(PaymentRows, { key: payment.payment_id, payment })),
  );
}

/** @param {{ payment: Record<string, any> }} props */
function PaymentRows({ payment }) {
  const { status, amount, received_amount, received, network, reference, payment_id, checkout_url, unmatched } =
    payment;
  return h(
    'div',
    { className: 'flex flex-col gap-y-2 px-6 py-4' },
    row('Status', h(StatusBadge, { color: status === 'PAID' ? 'green' : 'orange' }, status)),
    row('Asked', `${amount} USDT on ${network}`),
    row('Received', `${received_amount ?? '0'} USDT${received === null ? '' : `, ${received}`}`),
    row('Reference', reference),
    row(
      'Payment',
      h('a', { href: checkout_url, target: '_blank', rel: 'noreferrer', className: 'break-all' }, payment_id),
    ),
    (unmatched ?? []).map((transfer) =>
      row('Unmatched', `${transfer.amount} USDT, ${transfer.reason}`, transfer.transaction_id),
    ),
  );
}

const row = (name, value, key = name) =>
  h(
    'div',
    { key, className: 'grid grid-cols-2 items-start gap-x-4' },
    h(Text, { size: 'small', leading: 'compact', weight: 'plus' }, name),
    h(Text, { size: 'small', leading: 'compact', as: 'div' }, value),
  );

const ours = (order) =>
  (order?.payment_collections ?? [])
    .flatMap(({ payments }) => payments ?? [])
    .filter(({ provider_id }) => provider_id.startsWith('pp_quittance'))
    .map(({ data }) => data);

export default {
  widgetModule: { widgets: [{ Component: QuittancePayments, zone: ['order.details.side.before'] }] },
  routeModule: { routes: [] },
  menuItemModule: { menuItems: [] },
  formModule: { customFields: {} },
  displayModule: { displays: {} },
  i18nModule: { resources: {} },
};
