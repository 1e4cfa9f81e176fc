import type { Benchmark } from './benchmark.ts';
import { webhooks } from './parts/webhooks.ts';

export const benchmark: Benchmark = {
  name: 'webhooks',
  about: 'How many events are delivered a second, and how soon?',
  parts: [webhooks],
};
