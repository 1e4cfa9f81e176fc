import { writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { canUnpack, libraryPath, unpackDebianPackages } from '@quittance/local-backends/debian-packages.ts';
import type { StackDirectory } from '@quittance/local-stack/stack/directory.ts';

/** A clock for a process of its own, which can be set while the process runs. Time that only passes (monotonic) is left alone. */
type Clock = {
  /** What the process has to be started with. */
  settings: NodeJS.ProcessEnv;
  /** Sets it so many seconds ahead of the machine's, or behind for a negative number. The process sees it within a second. */
  set(seconds: number): Promise<void>;
};

export type Clocks = {
  make(): Promise<Clock>;
  /** The settings of a process with the machine's clock. */
  none: NodeJS.ProcessEnv;
};

/** @returns null where there is no libfaketime: nothing but Debian and its kin has it as a package that can be unpacked. */
export async function createClocks(directory: StackDirectory): Promise<Clocks | null> {
  if (!(await canUnpack(directory.tools, 'libfaketime'))) return null;
  const root = await unpackDebianPackages(directory.tools, { name: 'libfaketime', packages: ['libfaketime'] });
  const library = (await libraryPath(root))
    .split(':')
    .map((path) => join(path, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path));
  if (library === undefined) throw new Error(`there is no libfaketime in ${root}`);
  let made = 0;
  return {
    async make() {
      made += 1;
      const file = join(directory.root, `clock-${made}`);
      const set = (seconds: number) => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
      await set(0);
      return {
        set,
        settings: {
          LD_PRELOAD: library,
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          // It would outlive a process that is killed.
          FAKETIME_DISABLE_SHM: '1',
        },
      };
    },
    none: { LD_PRELOAD: '', FAKETIME_TIMESTAMP_FILE: '' },
  };
}
