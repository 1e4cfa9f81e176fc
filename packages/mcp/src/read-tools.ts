import type { McpServer } from '@modelcontextprotocol/server';
import type { PageQuery, Payment, PaymentDetails, Quittance } from '@quittance/sdk';
import { z } from 'zod';
import { answer } from './answer.ts';

const annotations = { readOnlyHint: true, openWorldHint: true };

const paymentId = z.string().describe('The id of a payment: pay_ and 32 hexadecimal digits');
const day = z.string().describe('A UTC day, such as 2026-03-01');
const moment = z.string().optional().describe('RFC 3339, such as 2026-03-01T00:00:00Z');

/** Adds what every key may do. */
export function addReadTools(server: McpServer, client: Quittance): void {
  addFindingTools(server, client);
  addAccountTools(server, client);
}

function addFindingTools(server: McpServer, client: Quittance): void {
  server.registerTool(
    'list_payments',
    {
      title: 'List payments',
      description: 'Payments, newest first, a page at a time. All conditions must be met; without any, all payments.',
      annotations,
      inputSchema: z.object({
        status: z.enum(['PENDING', 'CHECKING', 'PAID', 'EXPIRED', 'CANCELLED']).optional(),
        order_id: z.string().optional().describe("The shop's own id of the order"),
        reference: z.string().optional().describe('The short name that the checkout page shows to the customer'),
        transaction_id: z.string().optional().describe('A transaction on the chain that pays it'),
        merchant_wallet: z.string().optional(),
        network: z.string().optional(),
        created_from: moment,
        created_to: moment,
        paid_from: moment,
        paid_to: moment,
        limit: z.number().int().min(1).max(100).default(20),
        cursor: z.string().optional().describe('The next_cursor of the page before'),
      }),
    },
    (query) => answer(() => client.pagePayments(query as PageQuery)),
  );

  server.registerTool(
    'explain_payment',
    {
      title: 'Explain a payment',
      description:
        'One payment: its status in words, what has arrived for it, what it waits for, transfers that may be for it, and whether the shop was told (events).',
      annotations,
      inputSchema: z.object({ payment_id: paymentId }),
    },
    ({ payment_id: id }) =>
      answer(async () => {
        const [payment, events] = await Promise.all([client.getPaymentDetails(id), client.listDeliveries(id)]);
        return { explanation: explain(payment), payment, events };
      }),
  );

  server.registerTool(
    'find_transfer',
    {
      title: 'Find the money of a transaction',
      description:
        'What became of the USDT of a transaction on the chain: the payment that it pays, or why it pays none. Use it when a customer says they have paid.',
      annotations,
      inputSchema: z.object({ transaction_id: z.string().describe('64 hexadecimal digits, with or without 0x') }),
    },
    ({ transaction_id: id }) => answer(() => client.findTransfers(id)),
  );
}

function addAccountTools(server: McpServer, client: Quittance): void {
  server.registerTool(
    'read_report',
    {
      title: 'Count payments',
      description: 'How many payments were created and paid, and their sums, by day or month and network.',
      annotations,
      inputSchema: z.object({ from: day, to: day, group: z.enum(['day', 'month']).default('day') }),
    },
    (query) => answer(() => client.readReport(query)),
  );

  server.registerTool(
    'read_account',
    {
      title: 'Read the account',
      description: 'Whether payments may be created now and how many, the wallet pools, and the rates for prices.',
      annotations,
      inputSchema: z.object({}),
    },
    () =>
      answer(async () => {
        const asked = [client.getLimits(), client.listWalletPools(), client.getRates()] as const;
        const [limits, wallet_pools, rates] = await Promise.all(asked);
        return { limits, wallet_pools, rates };
      }),
  );
}

/** What a person would say about a payment, without any text of a customer. */
export function explain({ transfers, unmatched_transfers: unmatched, ...payment }: PaymentDetails): string {
  const arrived = payment.dedicated ? [`${payment.received_amount ?? '0'} USDT has arrived at its address.`] : [];
  const open = unmatched.length === 0 ? [] : [`Unmatched transfers that may be for it: ${unmatched.length}.`];
  return [statusText(payment), ...arrived, ...open].join(' ');
}

function statusText(payment: Pick<PaymentDetails, keyof Payment>): string {
  switch (payment.status) {
    case 'PAID':
      return `It was paid at ${payment.paid_at}.`;
    case 'CHECKING':
      return `Its money was seen and is not final yet. It waits for ${payment.transaction?.waiting_for ?? 'a new block'}.`;
    case 'PENDING':
      return `It waits for ${payment.amount} USDT on ${payment.network} until ${payment.expires_at}.`;
    case 'EXPIRED':
      return `It ended unpaid at ${payment.expires_at}.`;
    case 'CANCELLED':
      return `It was cancelled at ${String(payment.cancelled_at)}.`;
  }
}
