import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@quittance/contracts/ids.ts';
import { webhookChoices } from '@quittance/contracts/webhook.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { byMerchant } from '../../src/endpoints/audit.sql.ts';
import { findEndpoint, replaceKey, saveEndpoint } from '../../src/endpoints/endpoint.sql.ts';
import { insertEvents, type NewEvent, insertNotices, type NewNotice } from '../../src/events/event.sql.ts';
import { giveUpDeliveries } from '../../src/lanes/backlog.sql.ts';
import { holdLane } from '../../src/lanes/lane.sql.ts';
import { startCycle } from '../../src/events/retry.sql.ts';
import { hosts, newKey, repeat, type Chance, type Scene } from './scene.ts';
import { GIVE_UP_SECONDS } from './times.ts';

/** Everything except claims that changes events, endpoints or lanes. Some transactions are slow to commit. */
export function runOthers(scene: Scene): Promise<void>[] {
  return [
    repeat(scene, 'first inserter', 40, (chance) => insert(scene, chance)),
    repeat(scene, 'second inserter', 40, (chance) => insert(scene, chance)),
    ...[1, 2, 3, 4].map((n) => repeat(scene, `notice inserter ${n}`, 40, (chance) => insertSomeNotices(scene, chance))),
    repeat(scene, 'holder', 100, createHolder(scene)),
    repeat(scene, 'mover', 250, (chance) => move(scene, chance)),
    repeat(scene, 'rotator', 150, (chance) => rotate(scene, chance)),
    repeat(scene, 'retrier', 40, (chance) => retry(scene, chance)),
    repeat(scene, 'giver-up', 200, () => giveUp(scene)),
  ];
}

async function insert({ world, merchants, counts }: Scene, chance: Chance): Promise<void> {
  const events = Array.from({ length: 1 + chance.below(8) }, () => newEvent(chance.pick(merchants)));
  // A message that is delivered twice has no effect.
  const times = chance.happens(0.1) ? 2 : 1;
  const pauseMs = chance.happens(0.2) ? chance.below(30) : 0;
  for (let time = 0; time < times; time += 1) {
    await transaction(world.pool, async (tx) => {
      await insertEvents(tx, events);
      await delay(pauseMs);
    });
  }
  counts.inserted += events.length;
}

/** A payment may have several. It becomes PAID before, after or while they are stored, while one is in flight, or never. */
async function insertSomeNotices({ world, merchants, counts }: Scene, chance: Chance): Promise<void> {
  const [merchantId, paymentId] = [chance.pick(merchants), newId('pay')];
  const chosen = kinds.filter((_kind, n) => n === 0 || chance.happens(0.3));
  const notices = chosen.map((kind) => newNotice(merchantId, paymentId, kind));
  const store = () => transaction(world.pool, (tx) => insertNotices(tx, notices));
  const pay = () => transaction(world.pool, (tx) => insertEvents(tx, [newEvent(merchantId, paymentId)]));
  const paid = chance.pick(['never', 'before', 'meanwhile', 'in flight', 'in flight'] as const);
  if (paid === 'before') await pay();
  if (paid === 'meanwhile') await Promise.all([store(), delay(chance.below(5)).then(pay)]);
  else await store();
  if (paid === 'in flight') {
    await untilLeased(world, notices);
    await pay();
  }
  counts.noticed += notices.length;
}

/** Gives up after a while: some lanes are held, or wait. */
async function untilLeased({ pool }: Scene['world'], notices: readonly NewNotice[]): Promise<void> {
  const ids = notices.map(({ eventId }) => eventId);
  for (let look = 0; look < 20; look += 1) {
    const { rows } = await pool.query(`select from delivery where event_id = any($1) and lease_id is not null`, [ids]);
    if (rows.length > 0) return;
    await delay(10);
  }
}

const kinds = [
  ['payment.checking', 'CHECKING'],
  ['payment.expired', 'EXPIRED'],
  ['payment.cancelled', 'CANCELLED'],
  ['transfer.unmatched', 'UNMATCHED'],
] as const;

function newNotice(merchantId: string, paymentId: string, [type, status]: (typeof kinds)[number]): NewNotice {
  const eventId = newId('evt');
  const notice = { event_id: eventId, event_type: type, payment_id: paymentId, status };
  return { eventId, merchantId, type, paymentId, occurrence: eventId, body: Buffer.from(JSON.stringify(notice)) };
}

function newEvent(merchantId: string, paymentId = newId('pay')): NewEvent {
  const event = { event_id: newId('evt'), payment_id: paymentId, status: 'PAID' };
  return {
    eventId: event.event_id,
    paymentId: event.payment_id,
    merchantId,
    body: Buffer.from(JSON.stringify(event)),
  };
}

/** Blocks and unblocks accounts in turn, each message with a higher version than all before. */
function createHolder({ world, merchants, counts }: Scene): (chance: Chance) => Promise<void> {
  let statusVersion = 0;
  return async (chance) => {
    statusVersion += 1;
    const lane = { merchantId: chance.pick(merchants), held: chance.happens(0.4), statusVersion };
    await transaction(world.pool, (tx) => holdLane(tx, lane));
    if (lane.held) counts.held += 1;
  };
}

async function move(scene: Scene, chance: Chance): Promise<void> {
  const merchantId = chance.pick(scene.merchants);
  const host = chance.pick(hosts);
  await putEndpoint(scene, merchantId, host);
  scene.counts.moved += 1;
}

export async function putEndpoint(scene: Scene, merchantId: string, host: string): Promise<void> {
  const endpoint = {
    merchantId,
    url: `https://${host}/`,
    host,
    events: [...webhookChoices],
    offeredKey: newKey(scene),
  };
  await transaction(scene.world.pool, (tx) => saveEndpoint(tx, endpoint));
}

async function rotate(scene: Scene, chance: Chance): Promise<void> {
  const { world, counts, replacedAt } = scene;
  const merchantId = chance.pick(scene.merchants);
  const before = await findEndpoint(world.pool, merchantId);
  if (before === null) return;
  await transaction(world.pool, (tx) => replaceKey(tx, merchantId, newKey(scene)));
  replacedAt.set(before.key_id, performance.now());
  counts.rotated += 1;
}

/** Half of the time it retries notices that must not follow PAID, which is refused. */
async function retry({ world, counts }: Scene, chance: Chance): Promise<void> {
  const { rows } = await world.pool.query<{ event_id: string }>(
    `select event_id from delivery where status = 'failed' and (error_category <> 'superseded' or $2) order by event_id desc offset $1 limit 2`,
    [chance.below(5), chance.happens(0.5)],
  );
  for (const { event_id: eventId } of rows) {
    const pauseMs = chance.below(10);
    const { outcome } = await transaction(world.pool, async (tx) => {
      const started = await startCycle(tx, {
        eventId,
        merchantId: null,
        author: byMerchant,
        action: 'event_recovered',
      });
      await delay(pauseMs);
      return started;
    });
    if (outcome === 'started') counts.retried += 1;
  }
}

async function giveUp({ world, counts }: Scene): Promise<void> {
  counts.givenUp += await giveUpDeliveries(world.pool, GIVE_UP_SECONDS);
}
