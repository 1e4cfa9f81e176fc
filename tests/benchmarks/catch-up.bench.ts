import type { Benchmark } from './benchmark.ts';
import { catchingUp } from './parts/catch-up.ts';

export const benchmark: Benchmark = {
  name: 'catch-up',
  about: 'How long after an outage are paid orders confirmed, at the limits of free plans?',
  parts: [catchingUp],
  onlyByName: true,
};
