import { parseAddress } from '@quittance/contracts/address.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../../src/migrations.ts';
import { replicasOf } from '../replica.ts';
import { expectedTransfers, toldIn, type ExpectedTransfer } from './expected-transfers.ts';
import type { Lie } from './lies.ts';
import type { RecordedChain } from './recorded-blocks.ts';
import { recordedNode, type RecordedNode } from './recorded-node.ts';

/** A network's entry in the networks file, without its endpoints. */
export type RecordedNetwork = Record<string, unknown> & { chain_id: number; family: string; usdt_contract: string };

/** The result for a network whose first endpoint gave this false answer. */
export type Verdict = {
  lie: Lie | null;
  /** Messages that are false. */
  wrong: ExpectedTransfer[];
  /** Transfers without any message, and those that were never confirmed. */
  missing: ExpectedTransfer[];
  unconfirmed: ExpectedTransfer[];
  incidents: string[];
  /** The number of the endpoint's false answers. */
  lies: number;
};

/** `at_head`: block by block, and final only later. `behind`: in ranges, as after a pause. */
export type Reading = 'at_head' | 'behind';

const PATIENCE = { timeoutMs: 120_000, intervalMs: 100 };
/** How far above the chain's first block the scan begins, and up to where blocks are final. */
const [HEAD_AT_START, FINAL_AT_START] = [60, 58];

/**
 * Has one process of the service read a chain as many networks, each with two endpoints: the first tells one lie, the second none.
 * Every recipient of the chain is watched.
 */
export async function readThroughLies(
  chain: RecordedChain,
  network: RecordedNetwork,
  reading: Reading,
  lies: readonly (Lie | null)[],
): Promise<Verdict[]> {
  const token = parseAddress(network.usdt_contract)!.hex;
  const expected = expectedTransfers(chain, token);
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const node = await recordedNode(chain, { chainId: network.chain_id, hasBlockReceipts: network.family === 'evm' });
    closers.unshift(() => node.close());
    const [database, broker] = await Promise.all([testDatabase({ schema, migrations }), testBroker()]);
    closers.unshift(() => Promise.all([database.drop(), broker.close()]));
    const pool = testPool({ url: database.url, schema, max: 3 });
    closers.unshift(() => pool.end());
    const ids = lies.map((_, at) => `network-${at}`);
    await watchRecipients(pool, ids, [...new Set(expected.map(({ to }) => to))]);
    const file = ids.map((id, at) => ({
      ...network,
      ...{ id, name: id, poll_interval_ms: 25, default_evm: at === 0 && network.family === 'evm' },
      rpc_urls: [node.urlOf(id, 0, lies[at] ?? null), node.urlOf(id, 1, null)],
    }));
    node.show({ head: chain.first + HEAD_AT_START, finalized: chain.first + FINAL_AT_START });
    const received = await receiveMessages(broker.url, closers);
    const replicas = await replicasOf({ database, broker }, file);
    closers.unshift(() => replicas.close());
    await replicas.start();
    await readChain({ chain, node, pool, ids }, reading);
    await untilConfirmed(
      pool,
      ids.filter((_, at) => network['receipts'] === 'proven' || lies[at]?.kind !== 'consistent'),
    );
    const told = await untilDelivered(pool, received);
    const incidents = await openIncidents(pool);
    const hexOfAddress = (address: string) => parseAddress(address)!.hex;
    return lies.map((lie, at): Verdict => {
      const own = told.filter((message) => message.network === ids[at]);
      const said = own.map((message) => keyOf(toldIn(message, hexOfAddress)));
      const confirmed = own.filter(({ phase }) => phase === 'confirmed').map((one) => keyOf(toldIn(one, hexOfAddress)));
      const true_ = new Set(expected.map(keyOf));
      return {
        lie,
        wrong: own.map((message) => toldIn(message, hexOfAddress)).filter((one) => !true_.has(keyOf(one))),
        missing: expected.filter((one) => !said.includes(keyOf(one))),
        unconfirmed: expected.filter((one) => !confirmed.includes(keyOf(one))),
        incidents: incidents.filter(({ network: id }) => id === ids[at]).map(({ kind }) => kind),
        lies: node.liesOf(ids[at]!, 0),
      };
    });
  } finally {
    for (const close of closers) await close();
  }
}

type Run = { chain: RecordedChain; node: RecordedNode; pool: Pool; ids: string[] };

async function readChain({ chain: { first, top, last }, node, pool, ids }: Run, reading: Reading): Promise<void> {
  await untilCursors(pool, ids, ({ number }) => Number(number) >= first + HEAD_AT_START);
  if (reading === 'at_head') {
    node.show({ head: last - 1, finalized: first + FINAL_AT_START });
    await untilCursors(pool, ids, ({ number }) => Number(number) >= last - 1);
  }
  node.show({ head: last, finalized: top + 2 });
  await untilCursors(pool, ids, ({ number }) => Number(number) >= last);
  // Blocks that were read from the second endpoint are audited at the first, which still gives false answers.
  const before = new Map(ids.map((id) => [id, node.liesOf(id, 0)]));
  const isAudited = ({ audited_number: audited }: CursorRow) => Number(audited) >= top;
  await untilCursors(pool, ids, (row) => isAudited(row) || node.liesOf(row.network, 0) > before.get(row.network)!);
  node.tellTruth();
  await untilCursors(pool, ids, isAudited);
}

type CursorRow = { network: string; number: bigint | null; audited_number: bigint | null; state: string };

/** A halted network makes no progress. */
const untilCursors = (pool: Pool, ids: readonly string[], isThere: (row: CursorRow) => boolean): Promise<void> =>
  eventually(async () => {
    const { rows } = await pool.query<CursorRow>('select network, number, audited_number, state from cursor');
    const there = rows.filter((row) => row.state === 'halted' || (row.state === 'scanning' && isThere(row)));
    const late = ids.filter((id) => !there.some(({ network }) => network === id));
    if (late.length > 0) throw new Error(`still reading: ${late.join(', ')}`);
  }, PATIENCE);

/** Large transfers wait for both endpoints, one of which is trusted again only after a while. */
const untilConfirmed = (pool: Pool, ids: readonly string[]): Promise<void> =>
  eventually(async () => {
    const { rows } = await pool.query<{ network: string }>(
      `select distinct network from transfer where phase = 'seen' and network = any ($1)`,
      [ids],
    );
    if (rows.length > 0) throw new Error(`still waiting: ${rows.map(({ network }) => network).join(', ')}`);
  }, PATIENCE);

async function watchRecipients(pool: Pool, networks: readonly string[], wallets: readonly string[]): Promise<void> {
  await pool.query(
    `insert into watch (network, address, merchant_id, watched_from, watched_until, state)
     select network, decode(substr(wallet, 3), 'hex'), 'mer_' || repeat('0', 32), '2020-01-01', '2100-01-01', 'watching'
       from unnest($1::text[]) network, unnest($2::text[]) wallet`,
    [networks, wallets],
  );
  // A payment waits on each network, so that none is asleep.
  await pool.query(
    `insert into unfinished_payment (payment_id, network, created_at) select 'pay_on_' || id, id, now() from unnest($1::text[]) id`,
    [networks],
  );
}

async function receiveMessages(url: string, closers: (() => Promise<unknown>)[]): Promise<TransferObserved[]> {
  const received: TransferObserved[] = [];
  const broker = connectBroker({ url, name: 'test', logger: testLogger, metrics: testMetrics });
  closers.unshift(() => broker.close());
  const connection = await broker.consuming.connected(AbortSignal.timeout(PATIENCE.timeoutMs));
  const channel = await connection.createChannel();
  const onDelivery = (content: Buffer) => void received.push(TransferObserved.parse(JSON.parse(content.toString())));
  await channel.consume('payments.transfer-observed', (delivery) => delivery && onDelivery(delivery.content), {
    noAck: true,
  });
  return received;
}

/** Waits until everything that is stored has been published. */
const untilDelivered = (pool: Pool, received: readonly TransferObserved[]): Promise<TransferObserved[]> =>
  eventually(async () => {
    const { rows } = await pool.query<{ versions: string }>(
      'select coalesce(sum(version), 0) as versions from transfer',
    );
    if (received.length < Number(rows[0]?.versions)) throw new Error('messages are on their way');
    return [...received];
  }, PATIENCE);

async function openIncidents(pool: Pool): Promise<{ network: string; kind: string }[]> {
  const { rows } = await pool.query<{ network: string; kind: string }>(
    'select distinct network, kind from incident where resolved_at is null order by kind',
  );
  return rows;
}

const keyOf = (transfer: ExpectedTransfer): string => JSON.stringify(Object.values(transfer));
