import type { Pool } from '@quittance/postgres/pool.ts';
import type { ToldTransfer } from './replay.ts';

/** A row of the service's table of transfers. */
export type StoredTransfer = ToldTransfer & {
  phase: 'seen' | 'confirmed' | 'retracted';
  version: number;
  firstSeenAt: Date;
  live: boolean;
};

export type Stored = {
  transfers: StoredTransfer[];
  incidents: { kind: string; detail: string }[];
  /** How many watched wallets are in each state. */
  watches: { state: string; count: number }[];
  outbox: number;
  /** `isAudited`: every final block has been read a second time. */
  cursor: { number: number; hash: string; halted: boolean; epoch: number; isAudited: boolean } | null;
};

/** What the service has stored. */
export async function readStored(pool: Pool): Promise<Stored> {
  const { rows: transfers } = await pool.query<StoredTransfer>(
    `select transaction_id as transaction, transaction_event_index as position, block_number::int as "blockNumber",
       encode(block_hash, 'hex') as "blockHash", extract(epoch from block_timestamp)::int as timestamp,
       '0x' || encode(sender, 'hex') as "from", '0x' || encode(recipient, 'hex') as "to", amount_units::text as units, phase, version,
       first_seen_at as "firstSeenAt", live
     from transfer where network = 'local'`,
  );
  const { rows: incidents } = await pool.query<{ kind: string; detail: string }>(
    `select kind, detail::text as detail from incident where network = 'local' order by opened_at`,
  );
  const { rows: watches } = await pool.query<{ state: string; count: number }>(
    'select state, count(*)::int as count from watch group by state order by state',
  );
  const { rows: outbox } = await pool.query<{ count: number }>('select count(*)::int as count from outbox');
  const { rows: cursors } = await pool.query<NonNullable<Stored['cursor']>>(
    `select number::int as number, '0x' || encode(hash, 'hex') as hash, state = 'halted' as halted, epoch::int as epoch,
       coalesce(audited_number >= final_number, false) as "isAudited"
     from cursor where network = 'local'`,
  );
  return { transfers, incidents, watches, outbox: outbox[0]?.count ?? 0, cursor: cursors[0] ?? null };
}
