import { join, resolve } from 'node:path';
import type { DemoResult } from './demo.ts';
import type { Receiving } from './demo-merchant.ts';
import { repositoryRoot } from './directory.ts';
import type { StackFile } from './stack-file.ts';

/** The outcome of the demo's payments, with the time from the confirming block to the webhook. */
export function demoSummary({ first, latenciesMs }: DemoResult): string {
  const p50 = latenciesMs[Math.floor((latenciesMs.length - 1) / 2)] ?? 0;
  return `
The payment is finished: ${first.payment_id}
  amount        ${first.amount} USDT, paid to ${first.merchant_wallet}
  transaction   ${first.transaction_id} (event ${first.transaction_event_index})
  webhook       ${first.event_id}, signature verified by the receiver
  status        PAID  ${first.payment_url}
  time          from the confirming block being visible to the webhook received:
                p50 ${Math.round(p50)} ms over ${latenciesMs.length} payments (${latenciesMs.map(Math.round).join(', ')})`;
}

/** What a person can do with the running stack. */
export function stackSummary(
  stack: StackFile,
  receiving: Receiving,
  { local: openPaymentUrl, onTron }: { local: string; onTron: string | null },
): string {
  const { merchant } = stack;
  // Relative inside the checkout; absolute for data that is kept elsewhere.
  const logs = stack.logs.startsWith('..') ? resolve(repositoryRoot, stack.logs) : stack.logs;
  return `
Quittance is running.
  checkout      ${openPaymentUrl}
  pay it        npm run pay -- ${openPaymentUrl} --wait${tronLines(stack, onTron)}
  pay a part    npm run chain -- short ${openPaymentUrl}   (--help for more)
  API           ${stack.edge_url}/api/v1   (X-API-Key: ${merchant.api_key})
  create one    curl -s ${stack.edge_url}/api/v1/payments -H 'X-API-Key: ${merchant.api_key}' \\
                  -H "Idempotency-Key: $(date +%s)" -H 'Content-Type: application/json' \\
                  -d '${JSON.stringify({ amount: '4.20', ...receiving, description: 'Tea' })}'
  guide         ${stack.edge_url}/docs   (from an empty folder to a paid order in five minutes)
  operator      npm run ops -- merchant list
  console       ${stack.console_url}   (sign in with what npm run ops -- operator add me --role admin prints, and add a passkey)
  webhooks      ${stack.receiver.events_url}   (what the merchant's endpoint received)
  RabbitMQ      ${stack.management_url ?? 'no management plugin on this machine'}
  PostgreSQL    ${stack.postgres_url}
  all of it     ${join(logs, '..', 'stack.json')}, logs in ${logs}`;
}

function tronLines({ tron }: StackFile, openPaymentUrl: string | null): string {
  if (tron === undefined || openPaymentUrl === null) return '';
  return `
  on Tron       ${openPaymentUrl}   (final after 19 blocks, about 20 s)
  pay it        npm run pay -- ${openPaymentUrl} --wait
                wallet ${tron.wallet}, USDT ${tron.token}, JSON-RPC ${tron.rpc_url}`;
}
