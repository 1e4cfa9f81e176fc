import { access } from './access.ts';
import { chain } from './chain.ts';
import { creation } from './creation.ts';
import { uniqueAmounts } from './unique-amounts.ts';
import { messages } from './messages.ts';
import type { SqlMutants } from './mutant.ts';
import { payments } from './payments.ts';
import { people } from './people.ts';
import { webhooks } from './webhooks.ts';

/** What statements promise about keys, money, claims, outcomes and the outbox, each broken once. */
export const sqlMutants: readonly SqlMutants[] = [
  ...access,
  ...creation,
  ...uniqueAmounts,
  ...payments,
  ...webhooks,
  ...messages,
  ...chain,
  ...people,
];
