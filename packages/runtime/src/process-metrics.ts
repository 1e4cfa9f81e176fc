import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { Gauge, collectDefaultMetrics, type Registry } from 'prom-client';

/** All packages have one version, that of the release. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** What every process says of itself: memory, CPU, garbage collection, event loop lag, which release it is, and how much memory it may use. */
export function exposeProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  const build = new Gauge({
    name: 'quittance_build_info',
    help: 'Always 1; the labels say which release runs, and on which Node',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  build.set({ version, node: process.version }, 1);
  const limit = new Gauge({
    name: 'process_memory_limit_bytes',
    help: 'Memory beyond which the process is killed: the limit of its container, else what the machine has',
    registers: [registry],
  });
  limit.set(memoryLimit());
}

/** Without a limit the kernel names none, or a number that no machine has. */
function memoryLimit(): number {
  const container = process.constrainedMemory();
  return container > 0 ? Math.min(container, totalmem()) : totalmem();
}
