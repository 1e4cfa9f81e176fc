import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allTargets, ensureBackends, replay } from './replay.ts';

const targets = (await allTargets()).filter(({ isWhole }) => isWhole);

let end: () => Promise<void>;
beforeAll(async () => {
  end = await ensureBackends();
});
afterAll(() => end());

test.each(targets)('what fuzzing has kept is harmless: $name', async (target) => {
  expect(await replay(target)).toEqual([]);
});
