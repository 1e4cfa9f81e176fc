import type { TransferObserved } from '@quittance/contracts/messages.ts';

const MERCHANT = `mer_${'0'.repeat(32)}`;
const WALLET = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
const PREFIX = 'evt_';
/** Characters of a job's id after its prefix. */
const LENGTH = 32;

/** A message that carries the id of a job in that of its transaction. */
export const messageOf = (id: string): TransferObserved => ({
  ...{ merchant_id: MERCHANT, network: 'ethereum', transaction_id: id.slice(PREFIX.length).padEnd(64, '0') },
  ...{ transaction_event_index: 0, block_number: 24_100_512, block_hash: `0x${'b2'.repeat(32)}` },
  ...{ block_timestamp: '2026-01-05T10:02:11.000Z', from: WALLET, to: WALLET, amount_units: '10500000' },
  ...{ decimals: 6, phase: 'seen', version: 1, confirmations: 1, confirmations_required: 12 },
});

export const jobOf = ({ transaction_id }: TransferObserved): string => PREFIX + transaction_id.slice(0, LENGTH);
