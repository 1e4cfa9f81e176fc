import { setTimeout as delay } from 'node:timers/promises';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createOutcomeWriter } from '../../src/lanes/attempts.ts';
import {
  claimDeliveries,
  releaseDeliveries,
  type ClaimBounds,
  type Claimed,
  settleAttempts,
  type Outcome,
} from '../../src/lanes/claim.sql.ts';
import { isForNotices, merchantOf, openLaneCircuits } from '../../src/lanes/lane.sql.ts';
import { paces } from '../../src/state.ts';
import { failure, outcome } from '../store-world.ts';
import { FAR_HOST, chanceOf, countError, hosts, note, repeat, tolerate, type Chance, type Scene } from './scene.ts';
import { HOST_PAUSE_SECONDS, LANE_PAUSE_SECONDS, LEASE_SECONDS, policy } from './times.ts';

/** Null: no retry is left. */
const RETRY_DELAYS_SECONDS = [null, 0, 0, 0.05, 0.3, 2];

/**
 * A dispatcher without a receiver: it claims with all kinds of bounds, and ends its claimed deliveries in one of the ways in which
 * attempts end, or never.
 */
export async function runClaimer(scene: Scene, name: string): Promise<void> {
  const inFlight = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const work = createWork(scene, name, inFlight);
  await repeat(scene, name, 12, async (chance) => {
    const beganAt = performance.now();
    const bounds = { ...randomBounds(chance), inFlight: Object.fromEntries(inFlight) };
    const { claimed } = await claimDeliveries(scene.world.pool, bounds);
    scene.counts.claims += 1;
    scene.counts.claimed += claimed.length;
    judgeKeys(scene, claimed, beganAt);
    if (claimed.length > 0 && chance.happens(0.08)) {
      // The process died, and its successor knows nothing of the attempts in flight.
      scene.counts.crashes += 1;
      inFlight.clear();
      return;
    }
    const batch = work(claimed).finally(() => underWay.delete(batch));
    underWay.add(batch);
  });
  await Promise.all(underWay);
}

function randomBounds(chance: Chance): Omit<ClaimBounds, 'inFlight'> {
  const limits = hosts
    .filter((host) => host === FAR_HOST || chance.happens(0.2))
    .map((host) => {
      const pauses = chance.happens(host === FAR_HOST ? 0.99 : 0.2);
      return [host, { room: chance.below(4), pause_seconds: pauses ? HOST_PAUSE_SECONDS : 0 }] as const;
    });
  const room = 1 + chance.below(30);
  const bounds = paces.map((pace) => ({ pace, room: chance.below(room + 1), perLane: 1 + chance.below(8) }));
  return {
    room,
    paces: bounds.filter((bound) => bound.room > 0),
    perHost: 4 + chance.below(60),
    hosts: Object.fromEntries(limits),
    leaseSeconds: LEASE_SECONDS,
  };
}

function judgeKeys(scene: Scene, claimed: readonly Claimed[], beganAt: number): void {
  for (const { event_id: eventId, key_id: keyId } of claimed) {
    if ((scene.replacedAt.get(keyId) ?? Infinity) < beganAt)
      note(scene, 'a replaced key was claimed', `${keyId} for ${eventId}`);
  }
}

/** Ends a claim: releases all of it, as a stopping process does, or ends attempt by attempt. */
function createWork(scene: Scene, name: string, inFlight: Map<string, number>) {
  const { counts } = scene;
  const { pool } = scene.world;
  const chance = chanceOf(scene, `${name}'s work`);
  const attempt = createAttempt(scene, `${name}'s attempts`);
  return async (claimed: readonly Claimed[]): Promise<void> => {
    const ending = chance.below(12);
    if (ending > 1) {
      await Promise.all(
        claimed.map(async (delivery) => {
          add(inFlight, delivery.lane_id, 1);
          await attempt(delivery);
          add(inFlight, delivery.lane_id, -1);
        }),
      );
      return;
    }
    await tolerate(scene, `${name}'s release`, async () => {
      await delay(chance.below(20));
      await releaseDeliveries(pool, claimed, ending === 0 ? chance.pick([0, 0.2]) : 0);
      counts.released += claimed.length;
      if (ending === 0 || chance.happens(0.5)) return;
      const laneIds = new Set(claimed.map((delivery) => delivery.lane_id));
      await openLaneCircuits(pool, laneIds, LANE_PAUSE_SECONDS);
      counts.opened += laneIds.size;
    });
  };
}

/** An attempt whose answer comes soon, or only after its lease has expired, and is stored once or twice. */
function createAttempt(scene: Scene, name: string): (delivery: Claimed) => Promise<void> {
  const { counts } = scene;
  const chance = chanceOf(scene, name);
  const writer = randomWriter(scene, name);
  return async (delivery) => {
    const isNotice = isForNotices(delivery.lane_id);
    const isLate = chance.happens(isNotice ? 0.15 : 0.05);
    const isRepeated = chance.happens(0.05);
    const ended = chance.happens(scene.successShareOf(merchantOf(delivery.lane_id)))
      ? outcome(delivery)
      : outcome(delivery, { ...failure, retry_delay_seconds: chance.pick(RETRY_DELAYS_SECONDS) });
    // Long enough for the PAID event of its payment to be stored, and to wait.
    const isLong = isNotice && chance.happens(0.3);
    await delay(isLate ? LEASE_SECONDS * 1000 + chance.below(300) : chance.below(isLong ? 200 : 30));
    await writer(ended);
    counts[ended.error_category === null ? 'successes' : 'failures'] += 1;
    if (isLate) counts.late += 1;
    if (!isRepeated) return;
    await delay(chance.below(50));
    await writer(ended);
    counts.repeated += 1;
  };
}

/** The dispatcher's own transaction function, with counted retries. */
function randomWriter(scene: Scene, name: string): (outcome: Outcome) => Promise<void> {
  const write = async (outcomes: readonly Outcome[]): Promise<void> => {
    try {
      await settleAttempts(scene.world.pool, outcomes, policy);
    } catch (error) {
      countError(scene, name, error);
      throw error;
    }
  };
  return createOutcomeWriter({ write, logger: testLogger });
}

/** A process that died and was replaced has no attempts in flight, even if those of the dead one still end. */
function add(counts: Map<string, number>, merchantId: string, change: 1 | -1): void {
  const count = (counts.get(merchantId) ?? 0) + change;
  if (count > 0) counts.set(merchantId, count);
  else counts.delete(merchantId);
}
