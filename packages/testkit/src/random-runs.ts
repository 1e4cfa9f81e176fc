import { randomInt } from 'node:crypto';

const isLong = process.env['TEST_LENGTH'] === 'long';

/**
 * How much of a random test is run. `npm test` runs a short form of each, the same for everybody, so that what fails is due to the
 * change at hand; `npm run nightly` (TEST_LENGTH=long) runs long ones.
 */
export const amountOf = <T>(amounts: { short: T; long: T }): T => (isLong ? amounts.long : amounts.short);

/** TEST_SEED where it is given, else a new seed for a long run, and always the same one for a short run. */
export const seedOf = (ofShortRuns: number): number =>
  Number(process.env['TEST_SEED'] ?? (isLong ? randomInt(1, 2 ** 31) : ofShortRuns));
