import { execFile } from 'node:child_process';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A separate disk for one server, which can be filled to the last byte. */
export type SmallDisk = { fill(): Promise<void>; free(): Promise<void> };

/** Left free for others meanwhile, so that the rest can be reserved in one piece. */
const LEFT_BYTES = 64 * 1024 * 1024;

/** @returns null if mounting a disk is not allowed: neither as root, nor by sudo without a password. */
export async function smallDisk(
  directory: string,
  megabytes: number,
  onEnd: (close: () => Promise<void>) => void,
): Promise<SmallDisk | null> {
  await mkdir(directory, { recursive: true });
  const uid = process.getuid?.() ?? 0;
  const asRoot = (...words: string[]) => (uid === 0 ? run(words[0]!, words.slice(1)) : run('sudo', ['-n', ...words]));
  // If the tests run as root, PostgreSQL's own user has to pass through this folder.
  const options = `size=${megabytes}m,mode=0711,uid=${uid},gid=${process.getgid?.() ?? 0}`;
  try {
    await asRoot('mount', '-t', 'tmpfs', '-o', options, 'quittance-faults', directory);
  } catch {
    return null;
  }
  // Lazily, because children of a killed server may exist for a moment.
  onEnd(async () => {
    await asRoot('umount', '-l', directory);
  });
  const ballast = join(directory, 'ballast');
  return {
    async fill() {
      const { bavail, bsize } = await statfs(directory);
      const most = bavail * bsize - LEFT_BYTES;
      if (most > 0) await run('fallocate', ['-l', String(most), ballast]);
      await writeUntilFull(ballast);
    },
    free: () => rm(ballast, { force: true }),
  };
}

async function writeUntilFull(path: string): Promise<void> {
  const file = await open(path, 'a');
  try {
    for (;;) await file.write(Buffer.alloc(64 * 1024));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    await file.close();
  }
}
