import type { Benchmark } from './benchmark.ts';
import { endurance } from './parts/endurance.ts';
import { memory } from './parts/memory.ts';
import { statements } from './parts/statements.ts';

export const benchmark: Benchmark = {
  name: 'growth',
  about: 'What grows with the number of payments, and with time?',
  parts: [statements, memory, endurance],
};
