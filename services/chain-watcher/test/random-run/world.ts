import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { startNeighbours } from '@quittance/testkit/neighbours.ts';
import { networksOf } from '@quittance/testkit/chain/samples.ts';
import { migrations, schema } from '../../src/migrations.ts';
import { replicasOf } from '../replica.ts';
import { createPaymentPublisher, type PaymentPublisher } from './payment-publisher.ts';
import { badEndpoint, type BadEndpoint } from './bad-endpoint.ts';
import { createChainMaker, type ChainMaker } from './chain-maker.ts';
import { chanceOf } from './chance.ts';
import { createChainHistory, type ChainHistory } from './chain-history.ts';
import { createTransferQueue, type TransferQueue } from './transfer-queue.ts';
import { MAX_REORG, REPLICAS, ENDPOINTS, type Plan } from './plan.ts';
import { keepReplicas, type ReplicaKeeper } from './replica-keeper.ts';

/** Everything a run needs, with the replicas already running. */
export type RandomWorld = {
  chain: TestChain;
  chronicle: ChainHistory;
  maker: ChainMaker;
  endpoints: BadEndpoint[];
  announcer: PaymentPublisher;
  keeper: ReplicaKeeper;
  ear: TransferQueue;
  pool: Pool;
};

/** Some reorgs are deeper than this, so that confirmed transfers are retracted, too. */
export const CONFIRMATIONS = 4;
/** In millionths. Larger transfers wait until the chain calls their block final. Still larger ones also wait for a second endpoint. */
const FINALIZED_ABOVE = 60_000_000;
const THRESHOLDS = { finalized_above_amount: '60', agreement_above_amount: '80' };
/** anvil calls a block final when this many blocks are above it, twice the slots of an epoch. No reorg is deeper. */
export const FINAL_DEPTH = 2 * MAX_REORG;

/** Several blocks come in this time. */
const FAST_LOOK_MS = 1_500;

/** How many confirmations a transfer of this many base units needs to be confirmed. */
export const confirmationsFor = (units: string): number =>
  Number(units) > FINALIZED_ABOVE ? FINAL_DEPTH + 1 : CONFIRMATIONS;

/** @param options.onEnd registers what to call at the end, whether the run succeeded or not; the newest first. */
export async function openWorld(
  plan: Plan,
  { isFast, isProven, onEnd }: { isFast: boolean; isProven: boolean; onEnd: (close: () => Promise<void>) => void },
): Promise<RandomWorld> {
  const kept = async <T>(opening: Promise<T>, close: (opened: T) => Promise<void>): Promise<T> => {
    const opened = await opening;
    onEnd(() => close(opened));
    return opened;
  };
  const chain = await kept(testChain({ slotsInAnEpoch: FINAL_DEPTH / 2 }), (one) => one.close());
  const database = await kept(testDatabase({ schema, migrations }), (one) => one.drop());
  const broker = await kept(testBroker(), (one) => one.close());
  const ear = await createTransferQueue(broker);
  const chronicle = createChainHistory();
  const { seed, senders } = plan;
  const maker = await createChainMaker(chain, chronicle, { seed, senders });
  // A final block to begin at.
  await maker.mine(2 * FINAL_DEPTH);
  const chance = chanceOf(seed).apart('answers');
  const endpoints: BadEndpoint[] = [];
  for (let number = 0; number < ENDPOINTS; number += 1) {
    const { rpcUrl, token } = chain;
    const surroundings = { rpcUrl, token, chronicle, finalDepth: FINAL_DEPTH, chance: chance.apart(String(number)) };
    endpoints.push(await kept(badEndpoint(surroundings), (one) => one.close()));
  }
  const own = { url: database.url, schema, logger: testLogger };
  const pool = createPool({ ...own, max: 2, applicationName: 'random run' });
  onEnd(() => pool.end());
  const neighbours = await kept(startNeighbours({ amqpUrl: broker.url, consumes: {} }), (one) => one.stop());
  const rpcUrls = endpoints.map(({ url }) => url);
  const networks = networksOf({ chain, rpcUrls, confirmations: CONFIRMATIONS }).map((one) => ({
    ...one,
    ...(isProven && { receipts: 'proven' }),
    ...{ ...THRESHOLDS, ...(isFast && { poll_interval_ms: FAST_LOOK_MS, asleep_poll_interval_ms: FAST_LOOK_MS }) },
  }));
  const replicas = await kept(replicasOf({ database, broker }, networks), (one) => one.close());
  const keeper = await keepReplicas(replicas, REPLICAS, chanceOf(seed).apart('choice of replicas'));
  const announcer = createPaymentPublisher(neighbours, chronicle, seed);
  return { chain, chronicle, maker, endpoints, announcer, keeper, ear, pool };
}
