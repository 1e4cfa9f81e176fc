import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { migrateAll } from '@quittance/local-stack/stack/migrations.ts';
import type { ServiceProcess } from '@quittance/local-stack/stack/service-process.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { FaultKind, Scene } from './fault.ts';
import { restarted } from './process-faults.ts';

/** A called service is upgraded before its callers, and rolled back after them: docs/upgrading.md. */
const ORDER: readonly ServiceName[] = ['quota', 'chain-watcher', 'webhook-dispatcher', 'payments', 'api-gateway'];

/**
 * An upgrade during all other faults: the next process in order gets the current version. Once all have it, they are rolled back, one by
 * one, and upgraded again.
 */
export function createVersionFaults({ world: { earlier, stack }, replacing }: Scene): FaultKind {
  const inOrder = ORDER.flatMap((name) => stack.services.filter((one) => one.name === name));
  let upgraded = earlier === null ? inOrder.length : 0;
  let goesBack = false;
  let isMigrated = false;
  async function upgradeNext(one: ServiceProcess): Promise<void> {
    // PostgreSQL may be down meanwhile.
    const patience = { timeoutMs: 300_000, intervalMs: 1_000 };
    if (!isMigrated) await eventually(() => migrateAll(stack.backends.databaseUrls, repositoryRoot), patience);
    isMigrated = true;
    await replacing(one, () => restarted(one, {}, repositoryRoot));
    upgraded += 1;
  }
  async function goBack(one: ServiceProcess): Promise<void> {
    await replacing(one, () => restarted(one, {}, earlier!.path));
    upgraded -= 1;
  }
  return {
    names: earlier === null ? [] : ORDER.flatMap((name) => [`${name} upgraded`, `${name} gone back`]),
    impossible:
      earlier === null ? ['two versions at the same time: git has no earlier one here, and --from names none'] : [],
    next() {
      if (upgraded === inOrder.length) goesBack = true;
      if (upgraded === 0) goesBack = false;
      const one = inOrder[goesBack ? upgraded - 1 : upgraded]!;
      return goesBack
        ? { name: `${one.name} gone back`, run: () => goBack(one) }
        : { name: `${one.name} upgraded`, run: () => upgradeNext(one) };
    },
    async end() {
      while (upgraded < inOrder.length) await upgradeNext(inOrder[upgraded]!);
    },
  };
}
