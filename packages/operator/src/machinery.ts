import { NOTIFIER, OPS, type Caller, serviceNames } from '@quittance/contracts/service-name.ts';
import { RemoveArchived } from '@quittance/contracts/http/payments/archive.ts';
import { FinishRestore, MOVED_INDEXES } from '@quittance/contracts/http/payments/pools.ts';
import { CheckPayments } from '@quittance/contracts/http/check.ts';
import { ReadTrust } from '@quittance/contracts/http/trust.ts';
import { priceLists, type UnitPrices } from '@quittance/contracts/networks.ts';
import {
  anyText,
  choice,
  flag,
  moment,
  month,
  needed,
  numberOr,
  option,
  optionalWord,
  positive,
  word,
  Wrong,
  type Field,
  type Kind,
} from './field.ts';
import { callRow, ownRow } from './row.ts';
import { table } from './view.ts';

/** What is done to the machinery itself: the command line alone does it. */

/** The most that one command sends back or discards. */
export const DONE_MAX = 1000;

const queue = word('queue', anyText, 'the queue it was taken from');
const ofQueue = option('--queue <queue>', anyText, 'only those taken from this queue');
const chosen = {
  cause: option('--cause <reason>', anyText, 'only those with this reason, as the list shows it'),
  name: option('--name <message>', anyText, 'only messages of this name, such as PaymentPaid'),
  since: option('--since <time>', moment, 'only those dead since then, or later'),
  until: option('--until <time>', moment, 'only those dead before'),
};
const done = {
  queue,
  message: optionalWord('message', anyText, 'message id; without it all that the options choose, the oldest first'),
  ...chosen,
  limit: numberOr('--limit <n>', DONE_MAX, `at most this many, ${DONE_MAX} at the most`),
};

export const deadLetters = {
  summary: ownRow('dead-letter summary', null, {
    does: 'count dead letters by queue, message, cause and error, and name each queue that no process consumes',
    more: 'Begin here when there are many.',
    fields: { queue: ofQueue },
  }),
  list: ownRow('dead-letter list', null, {
    does: 'list dead letters, oldest first',
    fields: { queue: ofQueue, ...chosen, limit: numberOr('--limit <n>', 100, 'at most this many') },
  }),
  show: ownRow('dead-letter show', null, {
    does: 'show one dead letter with its body',
    fields: { queue, message: word('message', anyText, 'message id') },
  }),
  redrive: ownRow('dead-letter redrive', null, {
    audited: true,
    does: 'send dead letters back to their queue, as if for the first time',
    more: 'A handler takes effect once for each message, so a redrive is always safe; a message that fails again becomes a dead letter again.',
    asks: true,
    fields: done,
  }),
  discard: ownRow('dead-letter discard', null, {
    audited: 'reason required',
    does: 'delete dead letters for good: they never take effect',
    more: 'It asks even for one.',
    asks: true,
    fields: done,
  }),
  audit: ownRow('dead-letter audit', null, {
    does: 'show who sent back or discarded which dead letters, and why, newest first',
    more: 'With --json also the body of each letter, so that a discarded one can still be read for 90 days.',
    fields: { queue: ofQueue, limit: numberOr('--limit <n>', 100, 'at most this many') },
  }),
};

const collected: Field<string[]> = {
  ...option('--url <url>', anyText, 'an endpoint in place of those of the file; may be repeated'),
  repeats: true,
  read: (raw) => (Array.isArray(raw) ? raw.map(String) : []),
};

const headers: Field<Record<string, string>> = {
  ...option('--header <header>', anyText, 'an HTTP header for them, "Name: value"; may be repeated'),
  repeats: true,
  read(raw) {
    const given = Array.isArray(raw) ? raw.map(String) : [];
    return Object.fromEntries(
      given.map((one) => {
        const [, name, value] = /^([A-Za-z0-9-]{1,64}):\s*(.+)$/.exec(one) ?? [];
        if (name === undefined || value === undefined) throw new Wrong('expected "Name: value".');
        return [name, value];
      }),
    );
  },
};

/** The name of a list is looked up with the entry. */
const priceList: Kind<string | UnitPrices> = (text) => {
  if (/^\w+$/.test(text)) return text;
  const entries = text.split(',').map((entry) => /^(\w+)=(\d{1,7})$/.exec(entry.trim()));
  const prices = Object.fromEntries(entries.map((entry): [string, number] => [entry?.[1] ?? '', Number(entry?.[2])]));
  const { default: other } = prices;
  if (entries.includes(null) || other === undefined)
    throw new Wrong('expected the name of a list, or such as default=20,eth_getLogs=60.');
  return { ...prices, default: other };
};

export const checkNetwork = ownRow('network check', null, {
  does: 'ask endpoints everything that chain-watcher would ask, before money depends on them',
  more:
    'It needs no running service, stores nothing, and reads with the code of chain-watcher. It takes a minute or two and some hundred calls. ' +
    'Exit code 0 without a wrong answer, even where there are notes; 1 when an endpoint lacks something that is needed, or the plan is too small ' +
    "for it. URLs, headers and keys are never printed: keys belong into variables, as in --url '${MY_RPC_URL}'.",
  fields: {
    target: word(
      'file or network',
      anyText,
      'a networks file, or an id of the one in NETWORKS_FILE, else of the shipped one',
    ),
    url: collected,
    header: headers,
    ws_url: option('--ws-url <url>', anyText, 'the WebSocket of the first of them'),
    requests_per_day: option('--requests-per-day <number>', positive, 'what the plan allows'),
    units_per_day: option('--units-per-day <number>', positive, "what it allows in the provider's units"),
    unit_prices: option(
      '--unit-prices <list>',
      priceList,
      `what a call takes of them: ${Object.keys(priceLists).join(', ')}, or such as default=20,eth_getLogs=60`,
    ),
    requests_per_second: option(
      '--requests-per-second <number>',
      positive,
      'what it allows in a second; also slows this command down',
    ),
    timeout: numberOr('--timeout <seconds>', 20, 'deadline of one request', positive),
  },
});

export const checkSystem = ownRow('check', CheckPayments.access, {
  does: 'look for what must never be: payments, events, counters and transfers that do not agree',
  more:
    'It changes nothing. Between services it leaves out the last minute, and what a service has not sent yet; a message that waits in a queue for ' +
    'longer counts as lost, so look at the queues first. The exit code is 1 when a rule is broken.',
  fields: {
    since: option('--since <time>', moment, 'payments created from then on (default: a week ago)'),
    // A kept outcome must mean the same each time.
    report: flag('--report', 'also keep the outcome, for metrics and alerts', { conflicts: ['since'] }),
  },
});

export const archivePayments = ownRow('archive', RemoveArchived.access, {
  audited: true,
  does: 'write payments that ended before a month into files, and remove them from the database',
  more: 'What stays and how to keep the files is in [operations](operations.md#archiving-old-payments).',
  asks: true,
  fields: {
    before: needed('--before <month>', month, 'the first month that stays, at least 90 days ago'),
    to: needed('--to <folder>', anyText, 'where the files are, those of earlier runs too'),
    keep: flag('--keep', 'write the files and remove nothing'),
  },
  question: ({ before, keep }) =>
    keep
      ? null
      : `Payments that ended before ${before.slice(0, 7)} will be only in the files: their merchants and customers no longer see them.`,
});

export const finishRestore = callRow('restore finished', FinishRestore, {
  does: `move the extended keys of all wallet pools on by ${MOVED_INDEXES.toLocaleString('en')} addresses, once after a backup was restored`,
  more:
    'The restored database may have lost which addresses were given last; without this, payments would get addresses that others have had. ' +
    'Run it before you open the edge. Each run moves them on again.',
  asks: true,
  fields: {},
  view: ({ moved }) => [
    table(null, moved, { merchant: 'merchant_id', network: 'network', from: 'from_index', to: 'to_index' }),
  ],
});

export const callers: readonly Caller[] = [...serviceNames, NOTIFIER, OPS];

export const makeKeys = ownRow('trust keys', null, {
  does: 'make new signing keys: SIGNING_KEY for each process, TRUSTED_KEYS for all of them',
  more: 'Nothing is kept: put them where the [settings](settings.md) come from. [Operations](operations.md#a-signing-key) describes how a key is replaced.',
  fields: { of: choice('--of <process>', callers, 'of this process only, to replace its key') },
});

export const checkTrust = ownRow('trust check', ReadTrust.payments.access, {
  alias: 'enforce',
  does: 'tell you whether INTERNAL_TOKEN can be removed: exit code 0 when nothing needs it any more',
  more:
    'It switches nothing: the setting is the switch, and a process without it refuses what nobody signed. It needs AMQP_URL. A process of 0.2.0 that ' +
    'neither called another service nor sent a message for an hour is invisible to it, so also look at the versions that run (`quittance_build_info`).',
  fields: {},
});
