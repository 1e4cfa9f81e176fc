import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './api.ts';
import { Failure } from './failure.ts';

const INTERVAL_MS = 100;

/** What payments enforces for a merchant: the policy's newest version it has heard, and the counters. */
export type Gate = { policy_version: number; account_active: boolean };

/**
 * Waits until payments, which enforces the policy, has applied a restriction: after this nothing is created against it.
 * @throws Failure `unreachable` when that takes too long; the change itself is saved and will be applied.
 */
export async function waitForGate(
  api: Api,
  merchantId: string,
  { seconds, applied }: { seconds: number; applied: (gate: Gate) => boolean },
): Promise<void> {
  const late =
    'The change is saved, but payments has not applied it yet and may still create payments. Repeat the command to wait again';
  await waitUntil({ late, seconds }, async () => {
    const gate = (await api.find('payments', `/merchants/${merchantId}/gate`)) as Gate | null;
    return gate !== null && applied(gate);
  });
}

/** Waits until quota has opened the policy of a new merchant, so that the next command finds it. */
export async function waitForPolicy(api: Api, merchantId: string, { seconds }: { seconds: number }): Promise<void> {
  const late = 'The merchant is registered as shown, but quota has not heard of it yet. Do not create it again';
  await waitUntil({ late, seconds }, async () => (await api.find('quota', `/merchants/${merchantId}/policy`)) !== null);
}

/** A service that is away for a moment is asked again; a refusal is not. */
async function waitUntil(
  { late, seconds }: { late: string; seconds: number },
  check: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  let trouble = '';
  while (performance.now() < deadline) {
    try {
      if (await check()) return;
      trouble = '';
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'unreachable') throw error;
      trouble = ` (${error.message})`;
    }
    await sleep(INTERVAL_MS);
  }
  throw new Failure('unreachable', `${late}. Waited ${seconds} s${trouble}.`);
}
