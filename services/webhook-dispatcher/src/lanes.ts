/** Which queue and which receiver an attempt belongs to. */
type LanePlace = { merchant_id: string; host: string };

/** How many attempts may be in flight at once: of one merchant, towards one host, in this process. */
export type LaneBounds = { lane: number; host: number; process: number };

/** What is in flight in this process, so that one slow receiver holds its own lane and not the others. */
export type Lanes = {
  /** Attempts that may still start. */
  room(): number;
  /** Merchants with attempts in flight, and how many. */
  inFlight(): { merchantIds: string[]; counts: number[] };
  /** Hosts at their bound; a lane that leads there is left alone. */
  fullHosts(): string[];
  /** Takes a place, or answers false when one of the bounds is reached. */
  enter(place: LanePlace): boolean;
  /** Gives the place back. @returns whether one of its bounds was reached, so that something may be waiting for this place. */
  leave(place: LanePlace): boolean;
};

export function createLanes(bounds: LaneBounds): Lanes {
  const byMerchant = new Map<string, number>();
  const byHost = new Map<string, number>();
  let total = 0;

  const isFull = ({ merchant_id: merchantId, host }: LanePlace): boolean =>
    total >= bounds.process ||
    (byMerchant.get(merchantId) ?? 0) >= bounds.lane ||
    (byHost.get(host) ?? 0) >= bounds.host;

  function change({ merchant_id: merchantId, host }: LanePlace, by: 1 | -1): void {
    total += by;
    add(byMerchant, merchantId, by);
    add(byHost, host, by);
  }

  return {
    room: () => bounds.process - total,
    inFlight: () => ({ merchantIds: [...byMerchant.keys()], counts: [...byMerchant.values()] }),
    fullHosts: () => [...byHost].filter(([, count]) => count >= bounds.host).map(([host]) => host),
    enter(place) {
      if (isFull(place)) return false;
      change(place, 1);
      return true;
    },
    leave(place) {
      const wasFull = isFull(place);
      change(place, -1);
      return wasFull;
    },
  };
}

/** Empty entries are dropped, so that the maps never grow beyond what is in flight. */
function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
