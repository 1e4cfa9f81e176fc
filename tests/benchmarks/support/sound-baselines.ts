import type { Aim, BenchmarkContext } from '../benchmark.ts';
import { significant } from './report.ts';
import { interleave, measurementOf, ratioOf, type Contender, type Measurement, type Round } from './rounds.ts';

/**
 * A slow baseline makes every contender look good. So each baseline is measured once more after the rounds, and must do then what it did in
 * them; and its statements must find their rows by an index. If not, all rounds are repeated once, because other work on the machine may be
 * the reason.
 */

/** What the statements of one unit of work may read. They need fewer than ten rows, and without a fitting index thousands. */
const MOST_ROWS = 50;
/** Between most of the rounds and the measurement after them. */
const MOST_TIMES = 2;

/**
 * Compares contenders in rounds, and marks the measurements of a baseline that is not sound.
 * @param baselines names of the contenders to which others are compared.
 */
export async function compare(
  { rounds, scale, say }: Pick<BenchmarkContext, 'rounds' | 'scale' | 'say'>,
  contenders: readonly Contender[],
  baselines: readonly string[],
): Promise<Round[]> {
  let measured = await interleave(contenders, rounds);
  let flaws = await flawsOf(measured, contenders, baselines);
  // The figures of a smoke run say nothing.
  if (flaws.size > 0 && scale === 'full') {
    for (const [name, flaw] of flaws) say(`  ${name}: ${flaw}; all rounds once more …`);
    measured = await interleave(contenders, rounds);
    flaws = await flawsOf(measured, contenders, baselines);
  }
  return measured.map((round) => {
    const marked = [...flaws].map(([name, flaw]) => [name, { ...measurementOf(round, name), flaw }] as const);
    return { ...round, ...Object.fromEntries(marked) };
  });
}

async function flawsOf(
  rounds: readonly Round[],
  contenders: readonly Contender[],
  baselines: readonly string[],
): Promise<Map<string, string>> {
  const flaws = new Map<string, string>();
  for (const { name, measure } of contenders.filter((contender) => baselines.includes(contender.name))) {
    const flaw = flawOf(
      rounds.map((round) => measurementOf(round, name)),
      await measure(),
    );
    if (flaw !== null) flaws.set(name, flaw);
  }
  return flaws;
}

/** @returns why a baseline with these measurements is not sound; null when it is. */
export function flawOf(inRounds: readonly Measurement[], afterwards: Measurement): string | null {
  const rows = Math.max(...[...inRounds, afterwards].map(({ rowsRead = 0, units }) => rowsRead / units));
  if (!(rows <= MOST_ROWS)) return `reads ${significant(rows)} rows for one unit of work`;
  const times = inRounds.map(({ rate }) => afterwards.rate / rate);
  const sound = times.filter((one) => one >= 1 / MOST_TIMES && one <= MOST_TIMES);
  // The median is then one of these. A slow round or two decide nothing.
  if (sound.length > inRounds.length / 2) return null;
  return `measured again, it had ${times.map(significant).join(' and ')} times the rate of its rounds`;
}

/** What an aim says about a figure's ratio to a baseline. */
export function comparedTo(
  rounds: readonly Round[],
  of: (measurement: Measurement) => number,
  contender: string,
  baseline: string,
): Pick<Aim, 'measured' | 'brokenBaseline'> {
  const flaw = rounds.map((round) => measurementOf(round, baseline).flaw).find((text) => text !== undefined);
  const measured = ratioOf(rounds, of, contender, baseline);
  return flaw === undefined ? { measured } : { measured, brokenBaseline: `${baseline} ${flaw}` };
}
