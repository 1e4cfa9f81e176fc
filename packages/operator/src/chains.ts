import {
  ReadChains,
  type ChainStatus,
  type EndpointStatus,
  CreateJump,
  type Jump,
  ListOperatorActions,
  ResumeChain,
  type OperatorAction,
  type Resumption,
} from '@quittance/contracts/http/chain-watcher/chains.ts';
import { CreateRescan, ListRescans, type Rescan } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import { anyText, count, flag, moment, option, optionalWord, word } from './field.ts';
import { callRow, olderThan, ownRow } from './row.ts';
import { facts, table, text, words, type Value, type View } from './view.ts';

const network = word('network', anyText, 'id in the networks file');

export const rescanChain = callRow('chain rescan', CreateRescan, {
  does: 'read final blocks again, both ends included, for transfers that were missed',
  more:
    'It finds transfers to every wallet that is watched, and to one whose watching has ended in blocks from before its end; what it finds is ' +
    'published like any other transfer. Repeating it is harmless. It runs in the background, through an endpoint other than the scan where one ' +
    'has the blocks; on a halted network it waits.',
  waitSeconds: 0,
  fields: {
    network,
    from_block: option('--from-block <number>', count, 'the first block'),
    since: option('--since <time>', moment, 'or a block time: the first block at or after it'),
    to_block: option('--to-block <number>', count, 'the last block (default: the last final one)'),
  },
  missing: ({ from_block: from, since }) =>
    (from === undefined) === (since === undefined) ? 'Say where to begin, with --from-block or with --since.' : null,
  view: (rescan) => rescanView(rescan),
});

export const listRescans = ownRow('chain rescans', ListRescans.access, {
  does: 'list the newest hundred rescans of each network, and how far they are',
  fields: { network: optionalWord('network', anyText, 'id in the networks file') },
});

export const jumpChain = callRow('chain jump', CreateJump, {
  does: 'let the scan go on at the last final block, or at an earlier one, without reading the blocks before it',
  more:
    'Use it after weeks without a node, or when no endpoint keeps the next blocks any more; `chain status` proposes it then. New payments are ' +
    'seen at once. Wallets that were watched have the blocks in between read in the background (`back-fills`); until then their payments neither ' +
    'expire nor are reported as unpaid. A transfer that had been seen but was not final is taken back if no node shows its block any more, and ' +
    'found again by the back-fill. A network that is more than 2,000 blocks behind does all this by itself, as `chain-watcher`, when no ' +
    'unfinished payment is older than an hour and no more than 200 wallets need the blocks in between.',
  waitSeconds: 30,
  asks: true,
  fields: { network, to_block: option('--to <block>', count, 'this final block instead of the last one') },
  question:
    ({ network: id }, services) =>
    async () => {
      const known = (await services.call(ReadChains)).find((chain) => chain.network === id);
      const lag = known?.lag_blocks ?? null;
      const blocks = lag === null ? 'the next' : `some ${String(lag)}`;
      return `Go on at the last final block of ${id} and leave ${blocks} blocks out? They are read only for wallets that are watched.`;
    },
  view: (jump) => jumpView(jump),
});

export const chainRows = [
  callRow('chain status', ReadChains, {
    does: 'show head, finality, scan and lag of every network, why one is halted, and how its nodes answer',
    fields: {},
    view: (chains) => chainsView(chains),
  }),
  rescanChain,
  listRescans,
  jumpChain,
  callRow('chain resume', ResumeChain, {
    does: 'let a halted network go on; it resolves the incident of the halt too',
    asks: true,
    fields: {
      network,
      accept_fork: flag('--accept-fork', "follow the nodes' chain, also below what had been final; once"),
    },
    question: ({ network: id, accept_fork: acceptFork }) =>
      acceptFork
        ? `Follow the nodes of ${id} below the block that they had called final? Transfers that are not on their chain are retracted.`
        : null,
    view: (resumed) => resumedView(resumed),
    note: () => 'Its leader notices within seconds. Whether it goes on: chain status',
  }),
  callRow('chain audit', ListOperatorActions, {
    does: 'show who resumed, rescanned or moved a network and who resolved its incidents, newest first',
    fields: {
      network: optionalWord('network', anyText, 'id in the networks file'),
      before: option('--before <time>', moment, 'only what was done before this time'),
    },
    view: ({ actions }) => actionsView(actions),
    next: ({ actions }) => olderThan(actions, ({ at }) => at),
  }),
];

/** One line for each network, so that a stopped one is easy to see; then why networks are halted, and the nodes of each. */
export const chainsView = (chains: readonly ChainStatus[]): View => [
  table(null, chains, {
    network: 'network',
    head: (chain) => chain.endpoint_head ?? chain.head,
    scanned: 'cursor',
    final: 'final',
    finalized: 'finalized',
    audited: 'audited',
    'blocks behind': 'lag_blocks',
    lag: (chain) => (chain.lag_seconds === null ? null : duration(chain.lag_seconds)),
    'halted since': (chain) => chain.halted_at ?? 'no',
  }),
  table(null, chains, {
    network: 'network',
    'final through': 'scanned_through',
    wallets: 'watched_wallets',
    'back-fills': 'back_fills_waiting',
    incidents: 'open_incidents',
    "chain's clock": ({ chain_clock_difference_seconds: seconds }) => clockText(seconds),
    'our clock': ({ clock_difference_seconds: seconds }) => clockText(seconds),
    asleep: ({ asleep }) => (asleep ? 'yes' : 'no'),
    'answered by': (chain) => `${chain.replica}, ${chain.leader ? 'the leader' : 'not the leader'}`,
  }),
  ...chains.flatMap(({ network: id, halt_reason: reason }) =>
    reason === null ? [] : [text(`${id} is halted: ${reason}`)],
  ),
  ...chains.flatMap(({ network: id, scan_error: error }) =>
    (error ?? null) === null ? [] : [text(`${id} could not be read on at the last try: ${String(error)}`)],
  ),
  ...chains.map((chain) => endpointsTable(chain)),
];

const endpointsTable = ({ network: id, endpoints }: ChainStatus) =>
  table(`nodes of ${id}`, endpoints, {
    endpoint: 'endpoint',
    state: 'state',
    head: 'head',
    behind: 'head_lag_blocks',
    'p50 ms': (node) => node.latency_ms?.p50,
    'p95 ms': (node) => node.latency_ms?.p95,
    requests: 'requests',
    failures: (node) => failuresText(node.failures),
    'cooldown until': 'cooldown_until',
    'budget of the day': (node) => budgetText(node.budget ?? null),
    'last error': (node) => lastError(node),
  });

const failuresText = (failures: Record<string, number>): Value =>
  Object.entries(failures)
    .map(([cause, times]) => `${cause} ${times}`)
    .join(', ') || null;

const lastError = ({ last_error: error, last_error_at: at }: EndpointStatus): Value =>
  error === null ? null : at ? `${error} (${at.slice(11, 19)}Z)` : error;

function budgetText(budget: NonNullable<EndpointStatus['budget']> | null): Value {
  if (budget === null) return null;
  const { requests, units, slowed, day_ends_at: end } = budget;
  const parts = Object.entries({ requests, units }).flatMap(([name, part]) =>
    part === null ? [] : [`${part.used} of ${part.limit} ${name} (${Math.floor((100 * part.used) / part.limit)} %)`],
  );
  return `${parts.join(', ')} until ${end.slice(11, 16)}Z${slowed ? ', slowed' : ''}`;
}

/** Less the database's. */
const clockText = (seconds: number | null): Value =>
  seconds === null ? null : `${seconds > 0 ? '+' : ''}${seconds.toFixed(1)} s`;

function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

const resumedView = (resumed: Resumption): View => [
  facts({
    network: resumed.network,
    halted: resumed.halted_at,
    resumed: resumed.resumed_at,
    fork: resumed.accept_fork ? 'accepted: the nodes may be followed below what had been final, once' : 'not accepted',
    who: resumed.actor,
    why: resumed.reason,
  }),
];

const actionsView = (actions: readonly OperatorAction[]): View => [
  table(null, actions, {
    when: 'at',
    who: 'actor',
    network: 'network',
    what: ({ action }) => words(action),
    details: ({ detail }) => detailsText(detail),
    why: 'reason',
  }),
];

/** What a person reads first comes first; ids of rescans are for programs. */
const shown = ['kind', 'outcome', 'ancestor_number', 'from_block', 'to_block', 'state', 'found', 'wallets'];

const detailsText = (detail: Record<string, unknown>): Value =>
  [...shown, 'error', 'incident_id']
    .filter((name) => (detail[name] ?? null) !== null)
    .map((name) => words(`${name} ${String(detail[name])}`))
    .join(', ') || null;

export const jumpView = (jump: Jump): View => [
  facts({
    network: jump.network,
    state: jump.state,
    ...(jump.left_from !== null && { 'left out': `blocks ${jump.left_from} to ${String(jump.left_through)}` }),
    ...(jump.wallets !== null && { 'read for': `${jump.wallets} wallets` }),
    who: jump.actor,
    why: jump.reason,
    ...(jump.error !== null && { error: jump.error }),
  }),
];

export const rescansView = (rescans: readonly Rescan[]): View => [
  table(null, rescans, {
    requested: 'requested_at',
    network: 'network',
    from: (rescan) => rescan.from_block ?? rescan.since,
    to: 'to_block',
    read: progress,
    found: 'found',
    state: 'state',
    who: 'actor',
    why: 'reason',
    error: 'error',
  }),
];

export const rescanView = (rescan: Rescan): View => [
  facts({
    rescan: rescan.rescan_id,
    network: rescan.network,
    from: rescan.from_block ?? rescan.since,
    to: rescan.to_block ?? 'the last final block',
    state: rescan.state,
    read: progress(rescan),
    found: `${rescan.found} unknown transfers`,
    who: rescan.actor,
    why: rescan.reason,
    ...(rescan.error !== null && { error: rescan.error }),
  }),
];

/** How much of it has been read; unknown until the leader has started. */
function progress({ from_block: from, to_block: to, next_block: next }: Rescan): Value {
  if (from === null || to === null || next === null) return null;
  const blocks = to - from + 1;
  return `${next - from} of ${blocks} blocks (${Math.floor((100 * (next - from)) / blocks)} %)`;
}
