import type { Benchmark } from './benchmark.ts';
import { chaos } from './parts/chaos.ts';

export const benchmark: Benchmark = {
  name: 'chaos',
  about: 'What happens to jobs when a worker, a connection or a database fails, ours and those of other queues?',
  parts: [chaos],
  onlyByName: true,
};
