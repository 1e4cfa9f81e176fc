import { access } from './access.ts';
import { chain } from './chain.ts';
import { creation } from './creation.ts';
import { uniqueAmounts } from './unique-amounts.ts';
import { messages } from './messages.ts';
import type { SqlMutants } from './mutant.ts';
import { payments } from './payments.ts';
import { webhooks } from './webhooks.ts';

/** Picked by hand: what the statements promise about money, limits, leases and order, each broken once. */
export const sqlMutants: readonly SqlMutants[] = [
  ...creation,
  ...uniqueAmounts,
  ...payments,
  ...webhooks,
  ...messages,
  ...access,
  ...chain,
];
