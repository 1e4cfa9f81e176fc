import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { StackError } from '../stack/directory.ts';
import { requireAnsweringNode } from './node.ts';
import { claimPayment } from './payment.ts';
import { expectThat } from './watch.ts';
import type { World } from './world.ts';

type Moved = { payment_id: string; status: PaymentStatus; expires_at: Date; now: Date };

/**
 * Moves the end of one waiting payment, or of all, earlier by this many seconds, and checks that those whose end has come do end. The
 * chain's clock stays unchanged: a clock that is moved forward cannot be set back, and would make every later payment late.
 */
export async function advance(world: World, seconds: number, link?: string): Promise<void> {
  if (link === undefined) await world.claim('everything');
  const paymentId = link === undefined ? null : (await claimPayment(world, link)).payment_id;
  await requireAnsweringNode(world);
  const ids = await moveEnds(world, seconds, paymentId);
  if (ids.length === 0) throw new StackError('No waiting payment has an end that can be moved.');
  const whose = ids.length === 1 ? `the end of ${ids[0]}` : `the ends of ${ids.length} payments`;
  world.say(`Moved ${whose} up by ${seconds} s, to now at most.`);
  world.say('Payments whose end has come become EXPIRED, or PAID if money arrived in time. The others keep waiting.');
  for (const id of ids) await expectSettled(world, id);
}

/** Moves the end of a payment to now, and waits until the payment is EXPIRED. */
export async function letEndCome(world: World, paymentId: string): Promise<void> {
  await moveEnds(world, 100 * 86_400, paymentId);
  world.say(`Moved the end of ${paymentId} to now.`);
  await expectThat(world, 'status', async () => {
    const { status } = await read(world, paymentId);
    return { seen: status, isRight: status === 'EXPIRED' };
  });
}

/** Writes to the service's own table, because no API can do this. Never moves an end before now, so that no past block counts as late. */
async function moveEnds({ query }: World, seconds: number, paymentId: string | null): Promise<string[]> {
  const rows = await query<{ payment_id: string }>(
    `update payments.payment p set expires_at = sooner, expiry_check_at = least(expiry_check_at, sooner)
       from (select payment_id as id, greatest(clock_timestamp(), expires_at - make_interval(secs => $1)) as sooner
               from payments.payment
              where status in ('PENDING', 'CHECKING') and expires_at > clock_timestamp() and ($2::text is null or payment_id = $2)
              order by payment_id for update) moved
      where payment_id = id
      returning payment_id`,
    [seconds, paymentId],
  );
  return rows.map(({ payment_id: id }) => id);
}

/**
 * Decides by the database's clock, which is the one that counts, read together with the end and the status. A payment that still waits
 * although its end has come is not settled yet, however recently it ended.
 */
async function expectSettled(world: World, paymentId: string): Promise<void> {
  await expectThat(world, paymentId, async () => {
    const { status, expires_at: end, now } = await read(world, paymentId);
    const isUnfinished = status === 'PENDING' || status === 'CHECKING';
    const left = ((end.getTime() - now.getTime()) / 1_000).toFixed(1);
    return isUnfinished && now < end
      ? { seen: `${status}, and ends in ${left} s`, isRight: true }
      : { seen: status, isRight: !isUnfinished };
  });
}

async function read({ query }: World, paymentId: string): Promise<Moved> {
  const [row] = await query<Moved>(
    'select payment_id, status, expires_at, clock_timestamp() as now from payments.payment where payment_id = $1',
    [paymentId],
  );
  if (row === undefined) throw new StackError(`There is no payment ${paymentId}.`);
  return row;
}
