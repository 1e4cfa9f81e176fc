import type { Benchmark } from './benchmark.ts';
import { relay } from './parts/relay.ts';
import { settlement } from './parts/settlement.ts';

export const benchmark: Benchmark = {
  name: 'settlement',
  about: 'How many transfers can be settled a second, and how many messages published?',
  parts: [settlement, relay],
};
