import type { LoadGenerator } from './load.ts';
import type { Measurement } from './rounds.ts';

/** CPU time so far, in microseconds, of each measured process; null where the system does not report it. */
export type CpuCounters = Record<string, () => number | null>;

/** The CPU time used while `run` ran. */
export async function withCpu<T>(
  counters: CpuCounters,
  run: () => Promise<T>,
): Promise<{ result: T; cpuUs: Measurement['cpuUs'] }> {
  const read = () => Object.entries(counters).map(([name, count]) => [name, count()] as const);
  const before = Object.fromEntries(read());
  const result = await run();
  const spent = read().map(([name, us]) => {
    const earlier = before[name] ?? null;
    return [name, us === null || earlier === null ? null : us - earlier] as const;
  });
  return { result, cpuUs: Object.fromEntries(spent) };
}

/** One run of the load generator. @param settle waits for work that the requests caused, which is counted too. */
export async function measureLoad(
  load: LoadGenerator,
  target: string,
  how: Parameters<LoadGenerator['run']>[1],
  counters: CpuCounters,
  settle: (answered: number) => Promise<void> = async () => undefined,
): Promise<Measurement> {
  const { result, cpuUs } = await withCpu(counters, async () => {
    const ran = await load.run(target, how);
    await settle(ran.answered);
    return ran;
  });
  return {
    rate: result.answered / result.seconds,
    units: result.answered,
    p50Ms: result.p50_ms,
    p99Ms: result.p99_ms,
    cpuUs: { ...cpuUs, load: result.cpu_us },
  };
}
