import { readdir, readFile } from 'node:fs/promises';
import { CannotMeasure } from '../benchmark.ts';

/**
 * Physical memory of a process, in MB of 1024 KB as in `ps` and containers, including pages shared with other processes.
 * @throws CannotMeasure outside Linux.
 */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new CannotMeasure('Resident memory is read from /proc, which only Linux has.');
  return Number(kibibytes) / 1024;
}

/** Open files, sockets and pipes of a process. @throws Error outside Linux. */
export async function openHandles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}
