/*
 * What a run does, as plain data: things are named by their place among those that exist by then, so that a shrunk run still means
 * something. Few wallets, amounts and keys, so that they collide all the time.
 */

/** One of the run's payments (or transfers, or messages): 0 is the newest. */
type Place = number;

export type BlockTime = { near: 'creation' | 'expiry' | 'cancellation'; seconds: number } | { near: 'middle' | 'now' };

export type PolicyChange =
  | { change: 'pause' | 'resume' | 'block' | 'unblock' | 'activate' | 'extend' | 'move to beta' }
  /** One payment more than there are by then. */
  | { change: 'one more' }
  | { change: 'limits'; total: number; daily: number | null };

export type Move =
  | { to: 'expiry' | 'end of beta' | 'end of reply' | 'midnight'; of: Place; milliseconds: number }
  | { by: number };

/** What chain-watcher has scanned when an expiry round asks. */
export type Scanned = { upTo: 'now' | 'expiry'; milliseconds: number } | { upTo: 'nothing' };

export type Call =
  | {
      do: 'create';
      merchant: number;
      key: number;
      amount: number;
      wallet: number;
      network: number;
      description: number;
    }
  | { do: 'repeat'; place: Place; amount: 'same text' | 'same value' | 'another'; merchant: number | null }
  | { do: 'cancel'; place: Place; by: 'owner' | 'another'; unknown: boolean }
  | {
      do: 'transfer';
      place: Place;
      amount: 'exact' | 'under' | 'over' | 'a hair over';
      at: BlockTime;
      confirmed: boolean;
      silent: boolean;
    }
  | {
      do: 'next';
      place: Place;
      phase: 'seen' | 'confirmed' | 'retracted';
      at: BlockTime | null;
      under: boolean;
      silent: boolean;
    }
  | { do: 'deliver'; place: Place }
  | { do: 'deliver policy'; place: Place }
  | { do: 'deliver webhook'; merchant: number }
  | { do: 'expire'; scanned: Scanned; old: boolean; unknownWallet: boolean }
  | { do: 'limits'; merchant: number }
  | { do: 'public'; place: Place }
  | { do: 'release'; wallet: number };

export type Command =
  | { do: 'one'; call: Call }
  | { do: 'race'; calls: Call[]; choices: number[] }
  | { do: 'policy'; merchant: number; change: PolicyChange; silent: boolean }
  | { do: 'webhook'; merchant: number }
  | { do: 'outage'; who: 'quota' | 'webhooks' | 'chain'; down: boolean }
  | { do: 'clock'; move: Move }
  | { do: 'details'; place: Place; by: 'owner' | 'another' }
  | { do: 'list'; merchant: number; status: number; pageSize: number };

export type MerchantStart = {
  beta: boolean;
  active: boolean;
  total: number;
  daily: number | null;
  /** How far its policy, and its endpoint, have come. */
  policy: 'nobody' | 'owner' | 'payments';
  webhook: 'nobody' | 'owner' | 'payments';
};

export type Plan = {
  ttlSeconds: number;
  walletBinding: boolean;
  startsAt: string;
  /** Everything happens at whole seconds, as on chain: then it can fall on an edge exactly. */
  wholeSeconds: boolean;
  merchants: readonly MerchantStart[];
  /** Mostly of one command; some tell a story that chance alone would seldom tell. */
  stories: { waitMs: number; commands: Command[] }[];
};

export const WALLETS = 3;
export const amounts = ['10.5', '10.50', '7', '0.000001'];
export const descriptions = ['Two tickets', 'Zwei Karten — für heute'];
