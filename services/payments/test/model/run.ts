import { randomBytes } from 'node:crypto';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { webhookChoices, type WebhookChoice } from '@quittance/contracts/webhook.ts';
import { keepReplyPartitions } from '../../src/payment/saved-replies.ts';
import { type Plan, POOLS, WALLETS } from './plan.ts';
import type { CreationCall } from './creating.ts';
import { nextRate, observed } from './prices.ts';
import type { Settings, OtherServices } from './steps.ts';
import { startReplica, type Parts, type Replica } from './replica.ts';
import type { Scope } from './snapshot.ts';
import { emptyModel, type Model, type ModelPayment } from './state.ts';
import { ownersIn, verifierIn } from './other-services.ts';
import type { SharedDatabase } from './world.ts';

/** One run: its share of the database, its stubs of other services, and the model of the expected result. */
export type Run = {
  world: SharedDatabase;
  settings: Settings;
  merchants: readonly string[];
  /** What each merchant is notified of, in the same order. */
  choices: readonly (readonly WebhookChoice[])[];
  wallets: readonly string[];
  networks: readonly Network[];
  scope: Scope;
  otherServices: OtherServices;
  parts: readonly [Parts, Parts];
  replicas: readonly [Replica, Replica];
  model: Model;
  /** Attempted creations, newest last. */
  tried: CreationCall[];
  /** What chain-watcher and quota have published, delivered or not, newest last. */
  transfers: TransferObserved[];
  policies: AccessPolicy[];
  /** Every 201 of a creation. */
  answered: { merchantId: string; idempotencyKey: string; body: string }[];
  /** Payments that the database has shown as PAID. */
  wasPaid: Set<string>;
  /** All calls and answers, for anyone who has to find out why a run failed. */
  trace: string[];
  /** How often something could not be decided in time, which a busy machine may cause. */
  undecided: number;
};

export async function beginRun(world: SharedDatabase, plan: Plan): Promise<Run> {
  const { ttlSeconds, walletBinding } = plan;
  const otherServices: OtherServices = { quota: new Map(), endpoints: new Map(), down: new Set(), chain: new Map() };
  const tag = randomBytes(5).toString('hex');
  const networks = [networkNamed(`six-${tag}`, 6), networkNamed(`eighteen-${tag}`, 18)];
  const merchants = plan.merchants.map(() => newId('mer'));
  const wallets = Array.from({ length: WALLETS.shared + WALLETS.own + WALLETS.listed }, () => newWallet());
  const pools = new Map(
    POOLS.map(({ merchant, network, wallets: listed, restSeconds }) => [
      merchants[merchant]!,
      {
        ...{ network: networks[network]!.id, rest: restSeconds * 1000 },
        addresses: listed.map((position) => wallets[position]!),
      },
    ]),
  );
  const settings: Settings = { ttlSeconds, walletBinding, publicBaseUrl: world.publicBaseUrl, pools };
  const partsOfReplica = (): Parts => ({
    outbox: world.outbox,
    owners: ownersIn(otherServices),
    verifier: verifierIn(otherServices),
    networks,
    settings,
  });
  const parts = [partsOfReplica(), partsOfReplica()] as const;
  const run: Run = {
    choices: plan.merchants.map(({ events }) => chosen[events]),
    ...{ world, settings, merchants, wallets, networks, otherServices, parts },
    scope: { merchants, wallets, networks: networks.map(({ id }) => id) },
    replicas: [startReplica(world.pools[0], parts[0]), startReplica(world.pools[1], parts[1])],
    model: emptyModel(Date.parse(plan.startsAt)),
    tried: [],
    answered: [],
    wasPaid: new Set(),
    transfers: [],
    policies: [],
    trace: [],
    undecided: 0,
  };
  // What the exchanges said in an earlier run, at a later time.
  await world.db.query('truncate rate_quote, rate_accepted');
  await setClock(run, run.model.now);
  await keepReplyPartitions(world.db);
  for (const [merchant, pool] of pools) await run.replicas[0].savePool(merchant, pool);
  return run;
}

const chosen: Record<Plan['merchants'][number]['events'], readonly WebhookChoice[]> = {
  nothing: ['PAID'],
  unmatched: ['PAID', 'TRANSFER_UNMATCHED'],
  all: webhookChoices,
};

/** Moves the clock, and runs what depends only on time, as a loop of the service does. */
export async function setClock(run: Run, moment: number): Promise<void> {
  const month = (time: number): string => new Date(time).toISOString().slice(0, 7);
  const before = run.model.now;
  run.model.now = moment;
  await run.world.clock.set(moment);
  if (month(before) !== month(moment)) await keepReplyPartitions(run.world.db);
  const rate = run.otherServices.down.has('rates') ? null : nextRate(run.model);
  if (rate !== null && (await run.replicas[0].receiveRates(observed(rate))) === 'taken') run.model.rate = rate;
}

/** Messages are read again after every step, so those of earlier runs must not pile up. */
export async function endRun({ world, scope }: Run): Promise<void> {
  await world.db.query('delete from outbox where merchant_id = any($1)', [scope.merchants]);
}

/** The one at this position from the newest, or the oldest there is. */
export const fromEnd = <T>(things: readonly T[], place: number): T | undefined => things.at(-1 - place) ?? things[0];

export const paymentAt = (run: Run, place: number): ModelPayment | undefined =>
  fromEnd([...run.model.payments.values()], place);

const newWallet = (): string => addressFromHex('evm', `0x${randomBytes(20).toString('hex')}`);

const networkNamed = (id: string, decimals: number): Network => ({
  id,
  family: 'evm',
  chain_id: 31337,
  rpc_urls: ['http://127.0.0.1:1'],
  usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  decimals,
  confirmations: 2,
  finality: 'confirmations',
  poll_interval_ms: 100,
  explorer_transaction_url: null,
});
