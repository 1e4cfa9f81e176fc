import { setTimeout as sleep } from 'node:timers/promises';
import { ListJumps, type Jump } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { ListRescans, type Rescan } from '@quittance/contracts/http/chain-watcher/rescans.ts';
import { ReadGate } from '@quittance/contracts/http/payments/gate.ts';
import { ReadAccountStatus, ReadPolicy } from '@quittance/contracts/http/quota.ts';
import type { Api } from './api.ts';
import { Failure } from './failure.ts';

const INTERVAL_MS = 100;

/** For a permission: long enough for a message on its way. */
const SHORT_WAIT_SECONDS = 2;

/**
 * Waits until payments, which enforces the policy, has applied a change: after a restriction nothing is created against it.
 * @param seconds null for a permission, which gets a short time, so that the merchant's limits show it as soon as the command has
 *   ended. Creation does not depend on it: before payments refuses, it asks.
 * @throws Failure `unreachable` when a restriction takes too long; the change itself is saved and will be applied.
 */
export async function waitForGate(
  api: Api,
  merchantId: string,
  { seconds, version }: { seconds: number | null; version: number },
): Promise<void> {
  const late =
    'The change is saved, but payments has not applied it yet and may still create payments. Repeat the command to wait again';
  const applied = waitUntil({ late, seconds: seconds ?? SHORT_WAIT_SECONDS }, async () => {
    const gate = await api.find(ReadGate, { params: { merchant_id: merchantId } });
    return gate !== null && gate.policy_version >= version ? true : null;
  });
  await applied.catch((error: unknown) => {
    if (seconds !== null || !(error instanceof Failure)) throw error;
  });
}

/**
 * Waits until quota has received a change of the account's status.
 * @returns a version of the policy that includes it: payments may still apply an older block.
 * @throws Failure `unreachable` when that takes too long.
 */
export async function waitForAccountStatus(
  api: Api,
  merchantId: string,
  { seconds, statusVersion }: { seconds: number; statusVersion: number },
): Promise<number> {
  const late =
    'The change is saved and holds for the API key, but quota has not received it yet. Repeat the command to wait again';
  return waitUntil({ late, seconds }, async () => {
    const known = await api.find(ReadAccountStatus, { params: { merchant_id: merchantId } });
    return known !== null && known.status_version >= statusVersion ? known.policy_version : null;
  });
}

/** Waits until quota has opened the policy of a new merchant, so that the next command finds it. */
export async function waitForPolicy(api: Api, merchantId: string, { seconds }: { seconds: number }): Promise<void> {
  const late = 'The merchant is registered as shown, but quota has not received it yet. Do not create it again';
  await waitUntil({ late, seconds }, () => api.find(ReadPolicy, { params: { merchant_id: merchantId } }));
}

/** Waits until a rescan has ended, well or not. @throws Failure `unreachable` when that takes too long; it continues in the background. */
export async function waitForRescan(api: Api, { network, rescan_id: id }: Rescan, seconds: number): Promise<Rescan> {
  const late = `The rescan goes on in the background; chain rescans ${network} says how far it is`;
  return waitUntil({ late, seconds }, async () => {
    const { rescans } = await api.call(ListRescans, { params: { network } });
    const mine = rescans.find(({ rescan_id }) => rescan_id === id);
    return mine?.state === 'done' || mine?.state === 'failed' ? mine : null;
  });
}

/** Waits until a jump was carried out or has failed. @throws Failure `unreachable` when that takes too long; it stays asked for. */
export async function waitForJump(api: Api, { network, jump_id: id }: Jump, seconds: number): Promise<Jump> {
  const late = `The jump waits for the leader of ${network}; chain audit ${network} says what has become of it`;
  return waitUntil({ late, seconds }, async () => {
    const { jumps } = await api.call(ListJumps, { params: { network } });
    const mine = jumps.find(({ jump_id }) => jump_id === id);
    return mine === undefined || mine.state === 'waiting' ? null : mine;
  });
}

/**
 * Reads at least once. A service that is briefly away is asked again; a refusal is not.
 * @returns the first thing that `read` finds.
 */
async function waitUntil<T>(
  { late, seconds }: { late: string; seconds: number },
  read: () => Promise<T | null>,
): Promise<T> {
  const started = performance.now();
  for (;;) {
    let trouble = '';
    try {
      const found = await read();
      if (found !== null) return found;
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'unreachable') throw error;
      trouble = ` (${error.message})`;
    }
    const waited = (performance.now() - started) / 1000;
    if (waited >= seconds) throw new Failure('unreachable', `${late}. Waited ${Math.round(waited)} s${trouble}.`);
    await sleep(INTERVAL_MS);
  }
}
