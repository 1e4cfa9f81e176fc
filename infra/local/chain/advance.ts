import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { StackError } from '../stack/directory.ts';
import { requireAnsweringNode } from './node.ts';
import { claimPayment } from './payment.ts';
import { expectThat } from './watch.ts';
import type { World } from './world.ts';

type Moved = { payment_id: string; status: PaymentStatus; expires_at: Date; now: Date };

/**
 * Has the end of one payment that waits, or of all, come so many seconds sooner, and watches that those whose end is there end. The clock
 * itself stays: one that goes ahead cannot be set back, and would make every later payment late.
 */
export async function advance(world: World, seconds: number, link?: string): Promise<void> {
  if (link === undefined) await world.claim('everything');
  const paymentId = link === undefined ? null : (await claimPayment(world, link)).payment_id;
  await requireAnsweringNode(world);
  const ids = await moveEnds(world, seconds, paymentId);
  if (ids.length === 0) throw new StackError('No payment waits whose end could come sooner.');
  const whose = ids.length === 1 ? `the end of ${ids[0]}` : `the ends of ${ids.length} payments`;
  world.say(`Moved ${whose} up by ${seconds} s, to now at most.`);
  world.say('Those whose end is there become EXPIRED, or PAID where money came in time; the others wait on.');
  for (const id of ids) await expectSettled(world, id);
}

/** Has the end of a payment come now, and waits until it is EXPIRED. */
export async function letEndCome(world: World, paymentId: string): Promise<void> {
  await moveEnds(world, 100 * 86_400, paymentId);
  world.say(`Had the end of ${paymentId} come now.`);
  await expectThat(world, 'status', async () => {
    const { status } = await read(world, paymentId);
    return { seen: status, isRight: status === 'EXPIRED' };
  });
}

/** In the service's own table: nobody can ask it for that. Never before now, as no block of the past may count as late. */
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
 * By the clock of the database, which decides, read together with the end and the status: one that waits while its end is there is not
 * settled yet, however short a while ago that came.
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
