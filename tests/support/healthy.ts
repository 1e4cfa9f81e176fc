import { expect } from '@jest/globals';
import { residentMegabytes } from '../benchmarks/support/resident.ts';
import { send } from './http.ts';

/** A larger process would keep what it was sent. */
const MEGABYTES_MAX = 768;

/** Every process still runs, is ready, and is small (on Linux). */
export async function expectHealthy(processes: readonly { pid: number; url: string }[]): Promise<void> {
  for (const { pid, url } of processes) {
    expect(process.kill(pid, 0)).toBe(true);
    expect((await send('GET', `${url}/readyz`)).status).toBe(200);
    const megabytes = process.platform === 'linux' ? await residentMegabytes(pid) : 0;
    expect(megabytes).toBeLessThan(MEGABYTES_MAX);
  }
}
