import { formatUnits, AMOUNT_DECIMALS, parseAmount } from '@quittance/contracts/amount.ts';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { StackError } from '../stack/directory.ts';
import { transferOnChain } from '../stack/pay.ts';
import { letEndCome } from './advance.ts';
import { requireAnsweringNode } from './node.ts';
import { claimPayment, type KnownPayment } from './payment.ts';
import type { Outcome, Scenario } from './scenarios.ts';
import { expectThat } from './watch.ts';
import type { World } from './world.ts';

/**
 * For the first five seconds of a payment, the service treats a transfer as possibly a late one for an earlier payment. A block may also be
 * a second behind.
 */
const FIRST_SECONDS_MS = 7_000;

/** Runs a scenario on the payment of a link, and checks that the outcome follows the rules. @throws StackError if it does not. */
export async function payAs(world: World, link: string, scenario: Scenario): Promise<void> {
  const { say } = world;
  const payment = await claimPayment(world, link);
  await requireAnsweringNode(world);
  const before = await payment.details();
  requireWaiting(before, scenario);
  const units = missingIn(before);
  const transactions = scenario.transactions(units);
  const amounts = [...new Set(transactions.flat())];
  if (!before.dedicated) {
    for (const amount of amounts) await refuseAmountOfAnother(world, before, amount, amount === units);
    if (amounts.includes(units) && !scenario.afterEnd) await waitOutLatePayers(world, before, units);
  }
  if (scenario.afterEnd && before.status === 'PENDING') await letEndCome(world, payment.payment_id);

  const had = before.received_amount === '0' ? null : before.received_amount;
  say(
    `${payment.payment_id} asks for ${before.amount} USDT on ${before.merchant_wallet}${had === null ? '' : `, and has ${had}`}.`,
  );
  const hashes = [];
  for (const amounts of transactions) {
    const { transactionHash, blockNumber } = await transferOnChain(world.stack.chain, before.merchant_wallet, amounts);
    const sent = amounts.map((amount) => formatUnits(amount, AMOUNT_DECIMALS)).join(' + ');
    say(`Sent ${sent} USDT: transaction ${transactionHash} in block ${blockNumber}.`);
    hashes.push(transactionHash.slice(2));
  }
  const outcome = (before.dedicated ? scenario.alone : undefined) ?? scenario;
  say(outcome.should);
  if (before.dedicated) await watchReceived(world, payment, before, transactions.flat());
  await watch(world, payment, outcome, hashes);
}

/** What the payment asks for; on an address of its own, what has not arrived yet. */
function missingIn({ payment_id: id, amount, received_amount: received }: PaymentDetails): bigint {
  const asked = parseAmount(amount);
  if (asked === null) throw new StackError(`"${amount}" is not an amount.`);
  const missing = asked - (parseAmount(received ?? '0') ?? 0n);
  if (missing <= 0n) throw new StackError(`${id} has everything that it asks for.`);
  return missing;
}

/** Waits until everything that was sent to an address of its own is confirmed. */
async function watchReceived(
  world: World,
  { details }: KnownPayment,
  { received_amount: before }: PaymentDetails,
  sent: readonly bigint[],
): Promise<void> {
  const all = sent.reduce((sum, units) => sum + units, parseAmount(before ?? '0') ?? 0n);
  await expectThat(world, 'received', async () => {
    const { received_amount: received } = await details();
    return { seen: `${received} USDT`, isRight: parseAmount(received ?? '0') === all };
  });
}

function requireWaiting({ status, expires_at: end }: PaymentDetails, { afterEnd }: Scenario): void {
  if (status === 'PENDING' || (afterEnd && status === 'EXPIRED')) return;
  throw new StackError(`The payment is ${status} (its end is ${end}): choose one that is PENDING.`);
}

/**
 * The transfer would pay that other payment. If the amount differs from this payment's, that also holds for a payment that has ended and
 * whose amount is still reserved.
 */
async function refuseAmountOfAnother(
  { query }: World,
  payment: PaymentDetails,
  units: bigint,
  isOwn: boolean,
): Promise<void> {
  const [other] = await query<{ payment_id: string }>(
    `select payment_id from payments.payment
      where network = $1 and recipient = $2 and amount_units = $3 and payment_id <> $4 and (status in ('PENDING', 'CHECKING')
         or not $5 and least(expires_at, cancelled_at) > now() - interval '24 hours')
      limit 1`,
    [payment.network, payment.merchant_wallet, String(units), payment.payment_id, isOwn],
  );
  if (other === undefined) return;
  const amount = formatUnits(units, AMOUNT_DECIMALS);
  throw new StackError(`${other.payment_id} asks for exactly ${amount} USDT on the same wallet, and would get it.`);
}

/**
 * A transfer that arrives right after an unpaid payment of the same amount may come from that payment's customer, and would then pay
 * nothing.
 */
async function waitOutLatePayers(world: World, payment: PaymentDetails, units: bigint): Promise<void> {
  const [before] = await world.query<{ payment_id: string }>(
    `select payment_id from payments.payment
      where network = $1 and recipient = $2 and amount_units = $3 and status <> 'PAID' and created_at < $4
        and least(expires_at, cancelled_at) >= $4::timestamptz - interval '1 hour'
      limit 1`,
    [payment.network, payment.merchant_wallet, String(units), payment.created_at],
  );
  if (before === undefined) return;
  const since = Date.parse(payment.created_at) + FIRST_SECONDS_MS;
  world.say(`${before.payment_id} asked for the same and ended unpaid: paying once this payment is a few seconds old.`);
  while (Date.now() < since) await world.pause(100);
}

async function watch(
  world: World,
  { details, deliveries }: KnownPayment,
  { becomes, unmatched = [] }: Outcome,
  hashes: readonly string[],
): Promise<void> {
  if (unmatched.length > 0) {
    await expectThat(world, 'unmatched transfers', async () => {
      const ours = (await details()).unmatched_transfers.filter((one) => hashes.includes(one.transaction_id));
      const reasons = ours.map(({ reason }) => reason).join(', ');
      return { seen: reasons || 'none', isRight: reasons === unmatched.join(', ') };
    });
  }
  await expectThat(world, 'status', async () => {
    const { status } = await details();
    return { seen: status, isRight: status === becomes };
  });
  await expectThat(world, 'PAID webhooks', async () => {
    const paid = (await deliveries()).filter(({ event_type: type }) => type === null);
    const seen = paid.map(({ event_id: event, status }) => `${event} ${status}`).join(', ');
    const expected = becomes === 'PAID' ? 'delivered' : '';
    return { seen: seen || 'none', isRight: paid.map(({ status }) => status).join() === expected };
  });
}
