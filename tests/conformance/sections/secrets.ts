import { beforeAll, describe, expect } from '@jest/globals';
import { carryOutAll } from '../../attacks/run.ts';
import type { Row } from '../../attacks/report.ts';
import { attack } from '../../attacks/secrets.attack.ts';
import type { Contract } from '../conformance.test.ts';
import { rule } from '../support/rule.ts';

/** Checks that need a stack started for them alone, or a program that not every machine has. */
const maySkip = /^(no exported trace|a dump of every schema)/;

/** Whether a secret is left behind anywhere, after every kind of secret was used and misplaced: the checks of `npm run attacks -- secrets`. */
export function secretsSection(contract: Contract): void {
  describe('secrets', () => {
    let rows: Row[];
    beforeAll(async () => {
      const target = { stack: contract.stack, traces: null, onEnd: () => undefined };
      rows = await carryOutAll([attack], { target, part: '', say: () => undefined });
    }, 240_000);

    rule(
      'auth.2',
      'no log, table, queue, error, metric, process or webhook holds a secret, except for the tokens of payments',
      async () => {
        expect(rows.length).toBeGreaterThan(8);
        expect(rows.flatMap(({ check, open }) => open.map((problem) => `${check}: ${problem}`))).toEqual([]);
        const skipped = rows.filter(({ check, skipped: reason }) => reason !== null && !maySkip.test(check));
        // A stack that was started elsewhere may have a broker that shows no queues.
        if (!process.env['CONFORMANCE_STACK']) expect(skipped).toEqual([]);
      },
    );
  });
}
