import type { Author } from '@quittance/contracts/author.ts';
import type { Jump } from '@quittance/contracts/http/chain-watcher/chains.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { WithDates } from '@quittance/runtime/time.ts';

type JumpRow = WithDates<Jump, 'requested_at' | 'finished_at'>;

/** Heights fit a JavaScript number. */
const COLUMNS = `jump_id, network, actor, reason, requested_at, to_block::float8, state, left_from::float8, left_through::float8,
  wallets, error, finished_at`;

/** The result of a jump. `wallets`: for how many wallets a back-fill reads the blocks in between. */
export type JumpDone = { from: number; through: number; wallets: number };

/** @returns null while another jump waits. */
export async function createJump(
  db: Queryable,
  { network, toBlock, author }: { network: string; toBlock: number | null; author: Author },
): Promise<JumpRow | null> {
  const { rows } = await db.query<JumpRow>(
    `insert into jump (network, to_block, actor, reason) values ($1, $2, $3, $4)
     on conflict (network) where state = 'waiting' do nothing returning ${COLUMNS}`,
    [network, toBlock, author.actor, author.reason],
  );
  return rows[0] ?? null;
}

const LIST_MAX = 100;

/** The newest first, at most 100. */
export async function readJumps(db: Queryable, network: string): Promise<JumpRow[]> {
  const { rows } = await db.query<JumpRow>(
    `select ${COLUMNS} from jump where network = $1 order by requested_at desc, jump_id limit ${LIST_MAX}`,
    [network],
  );
  return rows;
}

export async function readWaitingJump(db: Queryable, network: string): Promise<JumpRow | null> {
  const { rows } = await db.query<JumpRow>(`select ${COLUMNS} from jump where network = $1 and state = 'waiting'`, [
    network,
  ]);
  return rows[0] ?? null;
}

export async function finishJump(tx: Transaction, id: string, { from, through, wallets }: JumpDone): Promise<void> {
  await tx.query(
    `update jump set state = 'done', left_from = $2, left_through = $3, wallets = $4, error = null, finished_at = clock_timestamp()
      where jump_id = $1 and state = 'waiting'`,
    [id, from, through, wallets],
  );
}

/** Records an automatic jump. */
export async function insertJump(
  tx: Transaction,
  network: string,
  author: Author,
  { from, through, wallets }: JumpDone,
): Promise<void> {
  await tx.query(
    `insert into jump (network, actor, reason, state, left_from, left_through, wallets, finished_at)
     values ($1, $2, $3, 'done', $4, $5, $6, clock_timestamp())`,
    [network, author.actor, author.reason, from, through, wallets],
  );
}

export async function failJump(db: Queryable, id: string, error: string): Promise<void> {
  await db.query(
    `update jump set state = 'failed', error = $2, finished_at = clock_timestamp() where jump_id = $1 and state = 'waiting'`,
    [id, error],
  );
}

/** The jump is tried again later. */
export async function delayJump(db: Queryable, id: string, error: string): Promise<void> {
  await db.query(`update jump set error = $2 where jump_id = $1 and state = 'waiting'`, [id, error]);
}
