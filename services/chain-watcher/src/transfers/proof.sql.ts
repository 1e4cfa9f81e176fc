import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import type { TransferId } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { columns } from '@quittance/postgres/rows.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** A branch is two or three nodes of half a kilobyte, and the receipt. Only receipts with hundreds of events are larger. */
const MAX_KEPT_BYTES = 65_536;

/** Keeps what proves these transfers. Those without a proof are left out. */
export async function insertProofs(tx: Transaction, network: string, transfers: readonly Transfer[]): Promise<void> {
  const rows = new Map(
    transfers.flatMap(({ transactionId, blockHash, proof }) =>
      proof === undefined ? [] : [[`${transactionId} ${blockHash}`, { transactionId, blockHash, ...proof }]],
    ),
  );
  if (rows.size === 0) return;
  const proofs = [...rows.values()];
  // One array of arrays would have to be rectangular.
  const nodesOf = ({ nodes }: (typeof proofs)[number]) =>
    nodes.reduce((sum, { length }) => sum + length, 0) > MAX_KEPT_BYTES
      ? null
      : `{${nodes.map((node) => `"\\\\x${node.toString('hex')}"`).join(',')}}`;
  await tx.query(
    `insert into transfer_proof (network, transaction_id, block_hash, endpoint, transaction_index, header, nodes)
     select $1, id, decode(block, 'hex'), endpoint, position, header, nodes::bytea[]
       from unnest($2::text[], $3::text[], $4::smallint[], $5::integer[], $6::bytea[], $7::text[])
         as new(id, block, endpoint, position, header, nodes)
     on conflict (network, transaction_id, block_hash) do update set endpoint = excluded.endpoint`,
    [
      network,
      ...columns(proofs, 'transactionId'),
      proofs.map(({ blockHash }) => blockHash.slice(2)),
      ...columns(proofs, 'endpoint', 'index', 'header'),
      proofs.map(nodesOf),
    ],
  );
}

/** A confirmed transfer, and what proves its receipt. */
export type KeptProof = Pick<TransferId, 'transaction_id' | 'transaction_event_index'> & {
  block_number: bigint;
  /** Hex without 0x. */
  block_hash: string;
  block_timestamp: Date;
  /** How many endpoints agreed about the block; null when it was confirmed by a release before 0.3.0. */
  agreed_by: number | null;
  /** These are null when nothing was kept. */
  transaction_index: number | null;
  header: Buffer | null;
  nodes: Buffer[] | null;
};

/** What proves these transfers, of those that count and are confirmed. */
export async function readProofs(
  db: Queryable,
  network: string,
  transfers: readonly Pick<TransferId, 'transaction_id' | 'transaction_event_index'>[],
): Promise<KeptProof[]> {
  const { rows } = await db.query<KeptProof>(
    `select t.transaction_id, t.transaction_event_index, t.block_number, encode(t.block_hash, 'hex') as block_hash,
            t.block_timestamp, t.agreed_by, p.transaction_index, p.header, p.nodes
       from unnest($2::text[], $3::integer[]) as asked (id, position)
       join transfer t on t.network = $1 and t.transaction_id = id and t.transaction_event_index = position
                      and t.phase = 'confirmed'
       left join transfer_proof p on p.network = $1 and p.transaction_id = id and p.block_hash = t.block_hash`,
    [network, ...columns(transfers, 'transaction_id', 'transaction_event_index')],
  );
  return rows;
}
