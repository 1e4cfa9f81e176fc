/** One short run of one contender. */
export type Measurement = {
  /** Units of work a second, such as requests. */
  rate: number;
  units: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of each process in the run; null where the system does not report it. */
  cpuUs: Record<string, number | null>;
  /** Bytes that PostgreSQL wrote to its log in the run, if measured. */
  walBytes?: number;
  /** Rows and index entries that its statements read in the run, if measured. */
  rowsRead?: number;
  /** Of a baseline that did not do what it stands for: why. */
  flaw?: string;
};

export type Contender = { name: string; measure: () => Promise<Measurement> };

/** What each contender did in one round, by its name. */
export type Round = Record<string, Measurement>;

export type Spread = { median: number; min: number; max: number };

/**
 * Runs every contender once in each round, each round beginning with another contender, so that other work on the machine affects all of
 * them alike.
 */
export async function interleave(contenders: readonly Contender[], rounds: number): Promise<Round[]> {
  const results: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const first = round % contenders.length;
    const result: Round = {};
    for (const { name, measure } of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      result[name] = await measure();
    }
    results.push(result);
  }
  return results;
}

/** Ratios are calculated inside each round, between runs a few seconds apart, and only then combined. */
export function ratioOf(
  rounds: readonly Round[],
  of: (measurement: Measurement) => number,
  contender: string,
  baseline: string,
): Spread {
  return spreadOf(rounds.map((round) => of(measurementOf(round, contender)) / of(measurementOf(round, baseline))));
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const at = (position: number): number => sorted[position] ?? Number.NaN;
  return {
    median: (at(Math.ceil(middle) - 1) + at(Math.floor(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  };
}

/** CPU time of one process for one unit of work, over all rounds, because a single run is short compared with a clock tick. */
export function cpuUsPerUnit(rounds: readonly Round[], contender: string, process: string): number | null {
  let cpuUs = 0;
  let units = 0;
  for (const round of rounds) {
    const measurement = measurementOf(round, contender);
    const spent = measurement.cpuUs[process];
    if (spent === undefined || spent === null) return null;
    cpuUs += spent;
    units += measurement.units;
  }
  return cpuUs / units;
}

export function measurementOf(round: Round, contender: string): Measurement {
  const measurement = round[contender];
  if (measurement === undefined) throw new Error(`no contender is called ${contender}`);
  return measurement;
}
