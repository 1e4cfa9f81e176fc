import { StackError } from '../stack/directory.ts';
import type { World } from './world.ts';

/** A minute of Tron's finality, on a machine that is busy. */
const PATIENCE_MS = 120_000;
const POLL_MS = 200;

/** What there is now, and whether it is as it should be. */
type Look = () => Promise<{ seen: string; isRight: boolean }>;

/**
 * Looks until it is right, and says what came.
 * @throws StackError when it does not become so, with what was seen last.
 */
export async function expectThat({ say, pause, directory }: World, what: string, look: Look): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { seen, isRight } = await look();
    if (isRight) {
      say(`  ✓ ${what}: ${seen}`);
      return;
    }
    if (Date.now() > deadline) {
      say(`  ✗ ${what}: ${seen}`);
      throw new StackError(
        `That did not come within ${PATIENCE_MS / 1_000} s. The logs in ${directory.logs} may tell why.`,
      );
    }
    await pause(POLL_MS);
  }
}
