import { chainRows } from './chains.ts';
import { listIncidents, resolveIncident } from './incidents.ts';
import { keyRows, loginRows } from './keys-and-logins.ts';
import { archivePayments, checkNetwork, checkSystem, checkTrust, deadLetters, makeKeys } from './machinery.ts';
import { merchantRows } from './merchants.ts';
import { operatorRows } from './operators.ts';
import { paymentRows } from './payments.ts';
import type { Row } from './row.ts';
import { transferRows } from './transfers.ts';
import { walletRows } from './wallets.ts';
import { webhookRows } from './webhooks.ts';

/** The nouns that commands begin with. One without rows of its own is a command. */
export const groups: readonly { name: string; title: string; does: string; rows: readonly Row[] }[] = [
  {
    ...{
      name: 'merchant',
      title: 'Merchants',
      does: 'register merchants and decide what they may do',
      rows: merchantRows,
    },
  },
  {
    ...{
      name: 'merchant key',
      title: 'API keys',
      does: 'the API keys of a merchant, which share its limits and counters',
    },
    rows: keyRows,
  },
  {
    ...{ name: 'merchant login', title: 'Logins of merchants' },
    does: "a merchant's people, who see its data in the console and nobody else's",
    rows: loginRows,
  },
  { name: 'wallet', title: 'Wallets', does: 'which merchant a wallet belongs to', rows: walletRows },
  { name: 'payment', title: 'Payments', does: 'look at payments, and cancel one that waits', rows: paymentRows },
  {
    ...{
      name: 'transfer',
      title: 'Transfers',
      does: 'where money is, and transfers that pay no payment by themselves',
    },
    rows: transferRows,
  },
  {
    ...{ name: 'incident', title: 'Incidents', does: 'what only a person can decide' },
    rows: [listIncidents, resolveIncident],
  },
  {
    ...{ name: 'webhook', title: 'Webhook events', rows: webhookRows },
    does: 'webhook events: how they are doing, and what to do for those that did not arrive',
  },
  {
    ...{ name: 'dead-letter', title: 'Dead letters', does: 'messages that a service could not process' },
    rows: Object.values(deadLetters),
  },
  {
    ...{ name: 'chain', title: 'Chains', does: 'how far the chains are followed, and what to do when they are not' },
    rows: chainRows,
  },
  {
    ...{ name: 'network', title: 'Networks', does: 'whether a provider is good enough to depend on' },
    rows: [checkNetwork],
  },
  { name: '', title: 'The whole system', does: 'everything at once', rows: [checkSystem, archivePayments] },
  {
    ...{ name: 'operator', title: 'Operators', does: 'the people who run the system, and what each may do' },
    rows: operatorRows,
  },
  {
    ...{ name: 'trust', title: 'Keys', does: 'the keys by which processes know each other' },
    rows: [makeKeys, checkTrust],
  },
];

export const rows: readonly Row[] = groups.flatMap((group) => group.rows);

/** @throws Error for a command that is not there. */
export function rowOf(command: string): Row {
  const row = rows.find((one) => one.command === command);
  if (row === undefined) throw new Error(`there is no command ${command}`);
  return row;
}
