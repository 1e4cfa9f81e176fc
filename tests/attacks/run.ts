import { carryOut, type Attack, type Check, type Target } from './attack.ts';
import { lineOf, type Row } from './report.ts';

/**
 * Runs topics one after the other, and reports each row immediately.
 * @param options.part only checks whose name contains these words; the others are left out.
 */
export async function carryOutAll(
  attacks: readonly Attack[],
  options: { target: Target; part: string; say: (line: string) => void },
): Promise<Row[]> {
  const { target, part, say } = options;
  const rows: Row[] = [];
  for (const { name: topic, about, checks } of attacks) {
    say(`\n${topic}: ${about}`);
    for (const check of await preparedChecks(() => checks(target), part)) {
      const startedAt = performance.now();
      const tried = await carryOut(check);
      const row = { topic, check: check.name, seconds: (performance.now() - startedAt) / 1000, ...tried };
      rows.push(row);
      say(lineOf(row));
    }
  }
  return rows;
}

/** A topic that could not be prepared is an open row, so that it never vanishes from the report. */
async function preparedChecks(prepare: () => Promise<Check[]>, part: string): Promise<Check[]> {
  try {
    return (await prepare()).filter(({ name }) => name.includes(part));
  } catch (error) {
    return [
      {
        name: 'could be prepared',
        run: () => Promise.reject(error instanceof Error ? error : new Error(String(error))),
      },
    ];
  }
}
