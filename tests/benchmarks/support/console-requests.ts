import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { withDatabase } from '../../support/database.ts';
import { LARGEST } from './filled-database.ts';
import type { Target } from './load.ts';

/** Every page is compared with this request, which customers' browsers repeat and which reads one payment. */
export const PUBLIC_STATUS = 'public status';

type Sample = {
  payment_id: string;
  recipient: string;
  transaction_id: string;
};

/** Every page whose cost can depend on the number of payments, of the merchant with the most; and the public status. */
export async function consoleRequests(stack: StackFile, credential: string): Promise<Target[]> {
  const cookie = await sessionOf(stack, credential);
  const { paid, waiting, late, tokens } = await samplesOf(stack);
  const pages: Record<string, string> = {
    overview: '/',
    'payment, paid': `/payments/${paid.payment_id}`,
    'payment, waiting': `/payments/${waiting.payment_id}`,
    'search by id': `/payments?q=${paid.payment_id}`,
    'search by transaction': `/payments?q=${paid.transaction_id}`,
    'search by wallet': `/payments?q=${paid.recipient}`,
    'search by order, none has it': '/payments?q=order+4711',
    'the newest payments': '/payments',
    'those of a merchant that are paid': `/payments?merchant=${LARGEST}&status=PAID`,
    'search for a text, none has it': '/payments?q=nobody+has+this+text',
    'transfers that pay nothing': '/transfers',
    'the same of a merchant': `/merchants/${LARGEST}/transfers`,
    'choosing a payment': `/transfers/${late.transaction_id}/3/accept`,
    merchants: '/merchants',
    'merchants by name': '/merchants?name=Shop+0000',
    'the largest merchant': `/merchants/${LARGEST}`,
    wallet: `/wallets/${paid.recipient}`,
    webhooks: '/webhooks',
    networks: '/networks',
    runbook: '/runbooks/chain-watcher',
  };
  return [
    {
      name: PUBLIC_STATUS,
      origin: stack.gateway_url,
      requests: tokens.map((token) => ({ path: `/api/v1/payments/${token}`, headers: {} })),
    },
    ...Object.entries(pages).map(([name, path]) => ({
      name,
      origin: stack.console_url,
      requests: [{ path, headers: { cookie } }],
    })),
  ];
}

async function sessionOf(stack: StackFile, credential: string): Promise<string> {
  const body = new URLSearchParams({ credential });
  const answer = await fetch(`${stack.console_url}/sign-in`, { method: 'POST', body, redirect: 'manual' });
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  if (answer.status !== 303 || cookie === '') throw new Error(`signing in answered ${answer.status}`);
  return cookie;
}

/** Of the largest merchant if possible: with few payments it may have no late one. */
const samplesOf = (stack: StackFile) =>
  withDatabase(stack.postgres_url, async (db) => {
    const one = async (status: string, relation: string): Promise<Sample> => {
      const { rows } = await db.query<Sample>(
        `select p.payment_id, p.recipient, coalesce(t.transaction_id, '') as transaction_id
           from payments.payment p left join payments.transfer t on t.${relation} = p.payment_id
          where p.status = $2 and ($2 = 'PENDING' or t.transaction_id is not null)
          order by p.merchant_id = $1 desc, p.created_at desc limit 1`,
        [LARGEST, status],
      );
      if (rows[0] === undefined) throw new Error(`there is no payment that is ${status}`);
      return rows[0];
    };
    // Many, because the number of requests for one link is limited.
    const { rows: paid } = await db.query<{ public_token: string }>(
      `select public_token from payments.payment where status = 'PAID' order by payment_id desc limit 10000`,
    );
    return {
      tokens: paid.map(({ public_token: token }) => token),
      paid: await one('PAID', 'payment_id'),
      waiting: await one('PENDING', 'payment_id'),
      late: await one('EXPIRED', 'related_payment_id'),
    };
  });
