import { readdir, readFile } from 'node:fs/promises';
import { CannotMeasure } from '../benchmark.ts';

/** Physical memory of a process, in MB of 1024 KB as `ps` and containers count, pages that it shares with others included. @throws CannotMeasure off Linux. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kibibytes === undefined) throw new CannotMeasure('Resident memory is read from /proc, which only Linux has.');
  return Number(kibibytes) / 1024;
}

/** Files, sockets and pipes that a process has open. @throws Error off Linux. */
export async function openHandles(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}
