import { newId } from '@quittance/contracts/ids.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { addressOf, hashOf } from '@quittance/testkit/chain/samples.ts';

export const network = 'local';
export const wallet = addressOf(0xabc);
/** Unix seconds, of block 0. */
export const start = 1_700_000_000;
export const at = (seconds: number) => new Date((start + seconds) * 1000);

export const watchOf = (
  {
    watchedFrom,
    watchedUntil,
    aloneUnits = null,
  }: { watchedFrom: Date; watchedUntil: Date; aloneUnits?: bigint | null },
  address: string = wallet,
) => ({
  ...{ network, address, merchantId: newId('mer'), watchedUntil, aloneUnits },
  watchedFrom: watchedFrom.toISOString(),
});

/** The same transfer, in a block that is as many seconds old as its number says. */
export const transferIn = (block: number, changes: Partial<Transfer> = {}): Transfer => ({
  transactionId: 'ab'.repeat(32),
  transactionEventIndex: 0,
  blockNumber: block,
  blockHash: hashOf(block),
  blockTimestamp: start + block,
  from: addressOf(1),
  to: wallet,
  amountUnits: 2n ** 255n,
  ...changes,
});
