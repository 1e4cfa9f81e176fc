import type { Benchmark } from './benchmark.ts';
import { chain } from './parts/chain.ts';
import { providers } from './parts/providers.ts';

export const benchmark: Benchmark = {
  name: 'chain',
  about: 'How fast are chains read, and what does that cost at a provider?',
  parts: [chain, providers],
};
