import type { Benchmark } from './benchmark.ts';
import { creation } from './parts/creation.ts';

export const benchmark: Benchmark = {
  name: 'creation',
  about: 'How many payments can be created a second?',
  parts: [creation],
};
