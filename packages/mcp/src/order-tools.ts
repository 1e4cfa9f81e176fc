import type { McpServer } from '@modelcontextprotocol/server';
import type { PaymentCreation, Quittance } from '@quittance/sdk';
import { z } from 'zod';
import { answer } from './answer.ts';

const creation = z.object({
  idempotency_key: z
    .string()
    .min(1)
    .max(255)
    .describe(
      'Names this creation, for example the id of the order: the same key and input never make a second payment',
    ),
  description: z.string().describe('Shown to the customer, who should not find secrets or personal data there'),
  amount: z.string().optional().describe('In USDT, such as 49.90. Either this or price'),
  price: z
    .object({ amount: z.string(), currency: z.string().describe('ISO 4217, such as EUR') })
    .optional()
    .describe('In another currency, converted to USDT now'),
  wallet_pool: z.string().optional().describe('A pool of read_account, recommended. Either this or merchant_wallet'),
  merchant_wallet: z.string().optional().describe("The merchant's own address that receives the money"),
  network: z.string().optional(),
  order_id: z.string().optional(),
  expires_in: z.number().int().optional().describe('Seconds until it ends unpaid'),
});

/** Adds what needs a key of scope `orders`. */
export function addOrderTools(server: McpServer, client: Quittance): void {
  server.registerTool(
    'create_payment',
    {
      title: 'Create a payment',
      description: 'Creates a payment. Give its payment_url to the customer.',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
      inputSchema: creation,
    },
    ({ idempotency_key: idempotencyKey, ...payment }) =>
      answer(() => client.createPayment(payment as PaymentCreation, { idempotencyKey })),
  );

  server.registerTool(
    'send_event_again',
    {
      title: 'Send an event again',
      description: 'Delivers a failed event of explain_payment to the shop again. At most five times an hour.',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
      inputSchema: z.object({ event_id: z.string() }),
    },
    ({ event_id: id }) => answer(() => client.retryEvent(id)),
  );
}
