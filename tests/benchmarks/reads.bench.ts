import type { Benchmark } from './benchmark.ts';
import { consolePages } from './parts/console.ts';
import { gateway } from './parts/gateway.ts';

export const benchmark: Benchmark = {
  name: 'reads',
  about: 'What do reads cost, of the API and of the console?',
  parts: [gateway, consolePages],
};
