/*
 * What a run does, as plain data. Things are named by their position among those that exist by then, so that a shrunk run still makes
 * sense. There are few wallets, amounts and keys, so that they collide all the time.
 */

/** One of the run's payments (or transfers, or messages): 0 is the newest. */
type Place = number;

/** When money came, by our clock. */
export type Arrived = { near: 'creation' | 'expiry' | 'cancellation'; seconds: number } | { near: 'middle' | 'now' };

/** How chain-watcher learned of a transfer: it saw it come; it read the block later, or now for the first time; or it does not say. */
export type Reading = 'live' | 'at once, not live' | 'now' | 'not said';

export type AmountPaid =
  | 'exact'
  | 'under'
  | 'over'
  | 'a hair over'
  /** Parts of the amount, in percent: near to others, near to none, dust. */
  | 60
  | 30
  | 0.5
  | 250
  | 40
  | 50
  /** What is missing to the amount, after everything that has arrived. */
  | 'missing'
  /** Exactly the amount of another payment of the wallet. */
  | 'of another';

export type PolicyChange =
  | { change: 'pause' | 'resume' | 'block' | 'unblock' | 'activate' | 'extend' | 'move to beta' }
  /** One payment more than there are by then. */
  | { change: 'one more' }
  | { change: 'limits'; total: number; daily: number | null };

export type Move =
  | { to: 'expiry' | 'end of beta' | 'end of reply' | 'midnight'; of: Place; milliseconds: number }
  | { by: number };

/** How far chain-watcher has scanned when an expiry round asks. */
export type Scanned = { upTo: 'now' | 'expiry'; milliseconds: number } | { upTo: 'nothing' };

/** What chain-watcher publishes. */
export type Chain =
  | {
      do: 'transfer';
      place: Place;
      amount: AmountPaid;
      at: Arrived;
      /** How far the chain's clock is ahead of ours, in seconds. */
      ahead: number;
      reading: Reading;
      /** The wallet sends it to itself. */
      self: boolean;
      confirmed: boolean;
      silent: boolean;
    }
  | {
      do: 'next';
      place: Place;
      phase: 'seen' | 'confirmed' | 'retracted';
      at: Arrived | null;
      ahead: number;
      under: boolean;
      /** What is published about the first reading from here on. */
      reading: 'as before' | 'later' | 'not said';
      silent: boolean;
    }
  /** A reorganisation moves a transfer to another wallet. */
  | { do: 'moved'; place: Place; wallet: number; phase: 'seen' | 'confirmed' }
  | { do: 'deliver'; place: Place };

export type Call =
  | {
      do: 'create';
      merchant: number;
      key: number;
      amount: number;
      /** Asks for a price in euros instead of an amount. */
      priced?: boolean;
      wallet: number;
      network: number;
      description: number;
      /** One of the merchant's orders: 0 is none. */
      order: number;
      /** Asks for an address of its own: this wallet, or one of its merchant's pool. */
      own?: 'wallet' | 'pool';
      /** The part of the amount that is enough, in percent. */
      percent?: number | null;
    }
  | { do: 'repeat'; place: Place; amount: 'same text' | 'same value' | 'another'; merchant: number | null }
  | { do: 'cancel'; place: Place; by: 'owner' | 'another'; unknown: boolean }
  | Chain
  | { do: 'batch'; parts: Chain[] }
  | {
      do: 'accept';
      place: Place;
      /** One of those to the payment's wallet; if there are none, of all. */
      transfer: Place;
      by: 'owner' | 'another' | 'operator';
      confirm: 'right' | 'wrong' | 'missing';
    }
  | { do: 'deliver policy'; place: Place }
  | { do: 'deliver webhook'; merchant: number }
  | { do: 'expire'; scanned: Scanned; old: boolean; unknownWallet: boolean }
  | { do: 'limits'; merchant: number }
  | { do: 'public'; place: Place }
  | { do: 'release'; wallet: number }
  /** Ends the rest of this payment's address. */
  | { do: 'end rest'; place: Place; by: 'owner' | 'another' };

export type Command =
  | { do: 'one'; call: Call }
  | { do: 'race'; calls: Call[]; choices: number[] }
  | { do: 'policy'; merchant: number; change: PolicyChange; silent: boolean }
  | { do: 'webhook'; merchant: number }
  | { do: 'outage'; who: 'quota' | 'webhooks' | 'chain' | 'rates'; down: boolean }
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
  /** What it is notified of besides PAID. */
  events: 'nothing' | 'unmatched' | 'all';
};

export type Plan = {
  ttlSeconds: number;
  walletBinding: boolean;
  startsAt: string;
  /** Everything happens at whole seconds, as on chain: then it can fall exactly on an edge. */
  wholeSeconds: boolean;
  merchants: readonly MerchantStart[];
  /** Mostly one command; some are stories that random commands would seldom produce. */
  stories: { waitMs: number; commands: Command[] }[];
};

/** Wallets that payments share, addresses that they ask for alone, and addresses of pools; in this order. */
export const WALLETS = { shared: 3, own: 2, listed: 3 };
/** The first two merchants have a pool each, of two addresses. One of them is in both. */
export const POOLS = [
  { merchant: 0, network: 0, wallets: [5, 6], restSeconds: 3600 },
  { merchant: 1, network: 0, wallets: [6, 7], restSeconds: 7200 },
];
export const amounts = ['10.5', '10.50', '7', '0.000001'];
/** In euros, as many as `amounts`. At one of the rates, two of them convert to amounts that are there too. */
export const prices = ['5.25', '3.50', '3.5', '0.01'];
export const orders = [null, 'A-1', 'A-2'];
export const descriptions = ['Two tickets', 'Zwei Karten — für heute'];
