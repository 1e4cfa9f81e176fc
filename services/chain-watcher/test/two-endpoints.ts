import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { startWorld, untilScanned, type World } from './world.ts';

export const CONFIRMATIONS = 3;

/** A network whose blocks are proven, with an endpoint that a test lets lie, and a second one. The first is asked first. */
export type TwoEndpoints = { world: World; liar: MisbehavingNode; honest: MisbehavingNode; close(): Promise<void> };

export async function startTwoEndpoints(): Promise<TwoEndpoints> {
  const world = await startWorld();
  const [liar, honest] = [await misbehavingNode(world.chain), await misbehavingNode(world.chain)];
  world.watch({ rpcUrls: [liar.url, honest.url], confirmations: CONFIRMATIONS, entry: { receipts: 'proven' } });
  await untilScanned(world);
  return {
    ...{ world, liar, honest },
    async close() {
      await world.close();
      await Promise.all([liar.close(), honest.close()]);
    },
  };
}

/** Waits for an open incident of this kind with these details. */
export const untilIncident = ({ pool }: World, kind: string, detail: Record<string, unknown>) =>
  eventually(async () => {
    const { rows } = await pool.query<{ kind: string; detail: Record<string, unknown> }>(
      'select kind, detail from incident where resolved_at is null',
    );
    expect(rows).toContainEqual({ kind, detail: expect.objectContaining(detail) as unknown });
  });

/** A wallet as events have it. */
export const topicOf = (wallet: string): string => `0x${wallet.slice(2).toLowerCase().padStart(64, '0')}`;
export const wordOf = (units: bigint): string => `0x${units.toString(16).padStart(64, '0')}`;
