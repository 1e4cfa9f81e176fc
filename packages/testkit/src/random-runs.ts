import { randomInt } from 'node:crypto';

const isLong = process.env['TEST_LENGTH'] === 'long';

/**
 * The length of random tests. `npm test` runs a short form of each, the same on every machine, so that a failure is
 * caused by the current change. `npm run nightly` (TEST_LENGTH=long) runs long ones.
 */
export const amountOf = <T>(amounts: { short: T; long: T }): T => (isLong ? amounts.long : amounts.short);

/** TEST_SEED if it is set; else a new seed for a long run, and always the same one for a short run. */
export const seedOf = (ofShortRuns: number): number =>
  Number(process.env['TEST_SEED'] ?? (isLong ? randomInt(1, 2 ** 31) : ofShortRuns));
