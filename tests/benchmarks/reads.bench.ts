import type { Benchmark } from './benchmark.ts';
import { consolePages } from './parts/console.ts';
import { gateway } from './parts/gateway.ts';
import { lists } from './parts/lists.ts';

export const benchmark: Benchmark = {
  name: 'reads',
  about: 'What do reads cost, of the API, the console and its lists?',
  parts: [gateway, consolePages, lists],
};
