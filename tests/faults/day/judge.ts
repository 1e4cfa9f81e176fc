import type { UnmatchedReason } from '@quittance/contracts/api/payment.ts';
import { readSnapshot } from '../../../services/payments/test/model/snapshot.ts';
import { snapshotOf } from '../../../services/payments/test/model/state.ts';
import type { SharedDatabase } from '../../../services/payments/test/model/world.ts';
import { type Day, historyOf, type Sent } from './day.ts';

type Phase = 'seen' | 'confirmed' | 'retracted';

/** The ledger's result for a transfer at the end of the day. Payments are named by their carts. */
export type Outcome = { sent: Sent; pays: string | null; reason: UnmatchedReason | null; candidates: string[] };

export type Judgement = {
  outcomes: Outcome[];
  /** Transfers that pay a payment of another customer. */
  wrong: Outcome[];
  /** Those of them that the merchant finds at the sender's payment, as paid_another. */
  listed: number;
  /** Violations other than `wrong`, each with its history. */
  broken: string[];
};

/** Compares the day with the model, and with the senders of the transfers. */
export async function judge(world: SharedDatabase, day: Day): Promise<Judgement> {
  const broken = [...day.disagreements, ...(await differences(world, day)), ...unfinished(day)];
  const ledger = await readLedger(world, day);
  const outcomes: Outcome[] = [];
  for (const sent of day.sent) {
    const row = ledger.get(sent.news.transaction_id);
    if (row?.phase === 'confirmed') outcomes.push({ sent, ...row });
    else broken.push(told(day, `${sent.name} is ${row?.phase ?? 'missing'} in the ledger`, [sent.customer.name]));
  }
  const wrong = outcomes.filter(({ sent, pays }) => pays !== null && pays !== sent.customer.name);
  let listed = 0;
  for (const outcome of wrong) if (await isListed(day, outcome)) listed += 1;
  return { outcomes, wrong, listed, broken };
}

/** A wrongly attributed transfer, with the events of both carts. */
export const wrongHistory = (day: Day, { sent, pays }: Outcome): string =>
  told(day, `${sent.name} of ${sent.customer.name} pays the payment of ${pays}`, [sent.customer.name, pays!]);

const told = (day: Day, what: string, carts: readonly string[]): string =>
  [`${day.name}: ${what}`, ...historyOf(day, new Set(carts)).map((line) => `     ${line}`)].join('\n');

/** Rows of payments and transfers that differ from the model. */
async function differences(world: SharedDatabase, day: Day): Promise<string[]> {
  const { run } = day;
  const [found, expected] = [await readSnapshot(world.db, run.scope, run.model.now), snapshotOf(run.model)];
  return (['payments', 'transfers'] as const).flatMap((table) => {
    const surplus = found[table].filter((row) => !expected[table].includes(row));
    const missing = expected[table].filter((row) => !found[table].includes(row));
    if (surplus.length + missing.length === 0) return [];
    const carts = cartsNamedIn(day, [...surplus, ...missing]);
    const rows = [...surplus.map((row) => `the service: ${row}`), ...missing.map((row) => `the model:   ${row}`)];
    return [told(day, `${table} differ from the model\n${rows.join('\n')}`, carts)];
  });
}

const cartsNamedIn = ({ payments, sent }: Day, rows: readonly string[]): string[] => {
  const ids: (readonly [id: string, cart: string])[] = [
    ...[...payments].map(([cart, { id }]) => [id, cart] as const),
    ...sent.map(({ news, customer }) => [news.transaction_id, customer.name] as const),
  ];
  return ids.filter(([id]) => rows.some((row) => row.includes(id))).map(([, cart]) => cart);
};

/** Every payment must end. */
const unfinished = (day: Day): string[] =>
  [...day.payments]
    .filter(([, { status }]) => status === 'PENDING' || status === 'CHECKING')
    .map(([cart, { status }]) => told(day, `${cart} stays ${status}`, [cart]));

type LedgerRow = {
  transaction_id: string;
  phase: Phase;
  payment_id: string | null;
  related_payment_id: string | null;
  candidates: string[] | null;
  reason: UnmatchedReason | null;
};

async function readLedger({ db }: SharedDatabase, day: Day) {
  const { rows } = await db.query<LedgerRow>(
    'select transaction_id, phase, payment_id, related_payment_id, candidates, reason from transfer where network = any($1)',
    [day.run.scope.networks],
  );
  const carts = new Map([...day.payments].map(([cart, { id }]) => [id, cart]));
  const cartOf = (id: string): string => carts.get(id) ?? `unknown ${id}`;
  return new Map(
    rows.map(({ transaction_id: id, phase, payment_id: pays, related_payment_id: only, candidates, reason }) => [
      id,
      {
        ...{ phase, reason, pays: pays === null ? null : cartOf(pays) },
        candidates: (candidates ?? (only === null ? [] : [only])).map(cartOf),
      },
    ]),
  );
}

async function isListed({ run, payments }: Day, { sent }: Outcome): Promise<boolean> {
  const own = payments.get(sent.customer.name)!;
  const details = await run.replicas[0].details(own.merchant, own.id);
  return details!.unmatched_transfers.some(
    ({ transaction_id: id, reason }) => id === sent.news.transaction_id && reason === 'paid_another',
  );
}
