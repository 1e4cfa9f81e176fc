import { chainRows } from './chains.ts';
import { listIncidents, resolveIncident } from './incidents.ts';
import { keyRows, loginRows } from './keys-and-logins.ts';
import {
  archivePayments,
  checkNetwork,
  checkSystem,
  checkTrust,
  deadLetters,
  finishRestore,
  makeKeys,
} from './machinery.ts';
import { merchantRows } from './merchants.ts';
import { operatorRows } from './operators.ts';
import { paymentRows } from './payments.ts';
import type { Row } from './row.ts';
import { transferRows } from './transfers.ts';
import { walletRows } from './wallets.ts';
import { webhookRows } from './webhooks.ts';

type Group = { name: string; title: string; does: string; rows: readonly Row[] };
const group = (name: string, title: string, does: string, own: readonly Row[]): Group => ({
  ...{ name, title, does, rows: own },
});

/** The nouns that commands begin with; commands of the group without a name have none. */
export const groups: readonly Group[] = [
  group('merchant', 'Merchants', 'register merchants and decide what they may do', merchantRows),
  group('merchant key', 'API keys', 'the API keys of a merchant, which share its limits and counters', keyRows),
  group(
    'merchant login',
    'Logins of merchants',
    "a merchant's people, who see only its data in the console",
    loginRows,
  ),
  group('wallet', 'Wallets', 'which merchant a wallet belongs to', walletRows),
  group('payment', 'Payments', 'look at payments, and cancel one that is pending', paymentRows),
  group('transfer', 'Transfers', 'where money is, and transfers that pay no payment by themselves', transferRows),
  group('incident', 'Incidents', 'what only a person can decide', [listIncidents, resolveIncident]),
  group(
    'webhook',
    'Webhook events',
    'how webhook events are doing, and what to do when they do not arrive',
    webhookRows,
  ),
  group('dead-letter', 'Dead letters', 'messages that a service could not process', Object.values(deadLetters)),
  group('chain', 'Chains', 'how far the chains are followed, and what to do when they are not', chainRows),
  group('network', 'Networks', 'whether a provider is good enough to depend on', [checkNetwork]),
  group('', 'The whole system', 'everything at once', [checkSystem, archivePayments]),
  group('restore', 'Restore', 'what to do after a backup was restored', [finishRestore]),
  group('operator', 'Operators', 'the people who run the system, and what each may do', operatorRows),
  group('trust', 'Keys', 'the keys by which processes know each other', [makeKeys, checkTrust]),
];

export const rows: readonly Row[] = groups.flatMap((group) => group.rows);

/** @throws Error for a command that is not there. */
export function rowOf(command: string): Row {
  const row = rows.find((one) => one.command === command);
  if (row === undefined) throw new Error(`there is no command ${command}`);
  return row;
}
