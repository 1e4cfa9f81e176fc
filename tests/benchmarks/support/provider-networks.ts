import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAddress } from '@quittance/contracts/address.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import type { BlockPlan } from './synthetic-chain.ts';

/** What a reader sees of a chain. Block times and densities are those of November 2026. */
export type ChainProfile = {
  /** In infra/networks.json. */
  id: string;
  blockMs: number;
  /** The contents of blocks, in turn. */
  plans: readonly BlockPlan[];
  /** One block in this many has a transfer that a payment waits for. */
  matchEvery: number;
  /** Final blocks are at least this old; finality advances in steps of `finalStepMs`. */
  finalBehindMs: number;
  finalStepMs: number;
  hasBloom: boolean;
  /** Whether providers announce its blocks: a networks file can then have a `ws_url`. */
  announces: boolean;
};

const minutes = (count: number): number => count * 60_000;
const times = (count: number, plan: BlockPlan): BlockPlan[] => Array.from({ length: count }, () => plan);
const transfers = (events: number, others: number): BlockPlan => ({ events, matches: 0, others });
/** The header's filter allows a transfer, but there is none. */
const doubtful = (others: number): BlockPlan => ({ events: 0, matches: 0, others, approvals: 1 });

/** Epochs of Ethereum, and fewer than in reality: each run begins at the final block. */
const onEthereum = { finalBehindMs: minutes(4), finalStepMs: minutes(6.4) };

const chainProfiles: readonly ChainProfile[] = [
  {
    ...{ id: 'ethereum', blockMs: 12_000, plans: [transfers(150, 60)], matchEvery: 1 },
    ...{ ...onEthereum, hasBloom: true, announces: true },
  },
  {
    ...{ id: 'tron', blockMs: 3_000, plans: [transfers(70, 30)], matchEvery: 2 },
    ...{ finalBehindMs: 57_000, finalStepMs: 3_000, hasBloom: false, announces: false },
  },
  {
    ...{ id: 'polygon', blockMs: 2_000, plans: [transfers(10, 60)], matchEvery: 3 },
    ...{ finalBehindMs: 5_000, finalStepMs: 2_000, hasBloom: true, announces: true },
  },
  {
    ...{ id: 'base', blockMs: 2_000, matchEvery: 3, ...onEthereum, hasBloom: true, announces: true },
    plans: shuffled([...times(4, transfers(2, 120)), ...times(7, doubtful(120)), ...times(2, transfers(0, 40))]),
  },
  {
    // Since the Fermi hard fork of January 2026.
    ...{ id: 'bnb', blockMs: 450, plans: [transfers(30, 40)], matchEvery: 11 },
    ...{ finalBehindMs: 1_350, finalStepMs: 450, hasBloom: true, announces: true },
  },
  {
    ...{ id: 'arbitrum', blockMs: 250, matchEvery: 21, ...onEthereum, hasBloom: true, announces: true },
    plans: shuffled([...times(11, transfers(1, 6)), ...times(3, doubtful(6)), ...times(11, transfers(0, 6))]),
  },
];

/** The items spread evenly, in the same order in every run. */
function shuffled<T>(list: readonly T[]): T[] {
  const step = list.findIndex((_, index) => index > list.length / 2);
  return list.map((_, index) => list[(index * step) % list.length] as T);
}

/** The content of its block at a height. */
export function planAt({ plans, matchEvery }: ChainProfile, number: number): BlockPlan {
  const plan = plans[number % plans.length] as BlockPlan;
  return number % matchEvery === 0 ? { ...plan, events: Math.max(1, plan.events), matches: 1 } : plan;
}

type Entry = { id: string; family: 'evm' | 'tron'; chain_id: number; usdt_contract: string } & Record<string, unknown>;

/** A network from infra/networks.json, read at two endpoints of this server. */
export type ProviderNetwork = ChainProfile & { entry: Entry; token: string };

/** @param historyShare of the time until blocks are final: a smaller share means less to read before the head is reached. */
export async function providerNetworks(historyShare: number): Promise<ProviderNetwork[]> {
  const shipped = JSON.parse(await readFile(join(repositoryRoot, 'infra', 'networks.json'), 'utf8')) as Entry[];
  return chainProfiles.map((profile) => {
    const entry = shipped.find(({ id }) => id === profile.id);
    const token = parseAddress(entry?.usdt_contract ?? '')?.hex;
    if (entry === undefined || token === undefined) throw new Error(`${profile.id} is not shipped`);
    const finality = {
      finalBehindMs: profile.finalBehindMs * historyShare,
      finalStepMs: Math.max(profile.blockMs, profile.finalStepMs * historyShare),
    };
    return { ...profile, ...finality, entry, token };
  });
}

/** @param origin of the providers, such as 127.0.0.1:8080. */
export const providersFile = (networks: readonly ProviderNetwork[], origin: string, withNewHeads: boolean) =>
  networks.map(({ entry, announces }) => ({
    ...entry,
    rpc_urls: [0, 1].map((endpoint) => ({
      url: `http://${origin}/${entry.id}/${endpoint}`,
      ...(withNewHeads && announces && endpoint === 0 && { ws_url: `ws://${origin}/${entry.id}/${endpoint}` }),
    })),
  }));
