import { StackError } from '../stack/directory.ts';
import type { World } from './world.ts';

/** A minute for Tron's finality, doubled for a busy machine. */
const PATIENCE_MS = 120_000;
const POLL_MS = 200;

/** The current state, and whether it is the expected one. */
type Look = () => Promise<{ seen: string; isRight: boolean }>;

/**
 * Polls until the state is right, and prints it.
 * @throws StackError with the last state seen when time runs out.
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
        `This did not happen within ${PATIENCE_MS / 1_000} s. The logs in ${directory.logs} may show why.`,
      );
    }
    await pause(POLL_MS);
  }
}
