import type { SqlMutants } from './mutant.ts';

const store = 'services/chain-watcher/test/store.int.test.ts';
const proofs = 'services/chain-watcher/test/store-proofs.int.test.ts';

/** The leader's fence, transfers and their finality. */
export const chain: SqlMutants[] = [
  {
    file: 'services/chain-watcher/src/leadership/cursor.sql.ts',
    tests: store,
    mutants: [
      {
        breaks: 'a former leader stores something',
        before: `select 1 from cursor where network = $1 and epoch = $2 and`,
        after: `select 1 from cursor where network = $1 and epoch >= $2 and`,
        noticedBy: 'an earlier leader can neither move the cursor nor store anything with it',
      },
      {
        breaks: 'a former leader moves the cursor',
        before: `where network = $1 and epoch = $2 and state <> 'halted'\``,
        after: `where network = $1 and epoch >= $2 and state <> 'halted'\``,
        noticedBy: ['an earlier leader can neither move the cursor', 'not at all by an earlier one'],
      },
      {
        breaks: 'a new leader has the epoch of the last one',
        before: 'epoch = cursor.epoch + 1',
        after: 'epoch = cursor.epoch',
        noticedBy: 'an earlier leader can neither move the cursor',
      },
    ],
  },
  {
    file: 'services/chain-watcher/src/transfers/transfer.sql.ts',
    tests: store,
    mutants: [
      {
        breaks: 'reading a block again publishes its transfers again',
        before: `where transfer.phase = 'retracted'
       returning`,
        after: `where transfer.phase <> 'confirmed'
       returning`,
        noticedBy: 'reading a block again changes nothing, confirmed or not',
      },
      {
        breaks: 'the version of a transfer begins again in another block',
        before: '+ coalesce(before.version, 0)',
        after: '+ coalesce(0 * before.version, 0)',
        noticedBy: 'the version grows across the blocks that held a transfer',
      },
      {
        breaks: 'a transfer to a wallet that is no longer watched is accepted',
        before: `(watch.state <> 'ended' or watch.ended_through > to_timestamp(time))`,
        after: `(watch.state <> 'ended' or watch.ended_through is not null)`,
        noticedBy: 'a transfer from before the end of a watch is taken, one from after it is not',
      },
      {
        breaks: 'a large transfer is confirmed by depth alone',
        before: 'is null or ${judged} <= ${cap} or block_number <= ${largeHeight})',
        after: 'is null or ${judged} >= ${cap} or block_number <= ${largeHeight} or true)',
        noticedBy: 'above the cap are confirmed only in blocks that the chain itself calls final',
      },
      {
        breaks: 'a transfer of exactly the cap waits',
        before: '${judged} <= ${cap} or',
        after: 'amount_units < ${cap} or',
        noticedBy: 'above the cap are confirmed only in blocks that the chain itself calls final',
      },
      {
        breaks: 'a transfer is confirmed a block too late',
        before: 'block_number <= ${height}',
        after: 'block_number < ${height}',
        noticedBy: 'above the cap are confirmed only in blocks that the chain itself calls final',
      },
      {
        breaks: 'a transfer that two endpoints must agree about is confirmed by one',
        before: '${judged} <= $${String(at + 3)})',
        after: '${judged} > 0 * $${String(at + 3)})',
        noticedBy: 'that need two endpoints are not confirmed by depth alone',
      },
      {
        breaks: 'a reorg also retracts the block below it',
        before: 'where network = $1 and block_number > $2 and phase = any($3)',
        after: 'where network = $1 and block_number >= $2 and phase = any($3)',
        noticedBy: 'are retracted newest first, and only above the height',
      },
    ],
  },
  {
    file: 'services/chain-watcher/src/transfers/transfer.sql.ts',
    tests: 'services/chain-watcher/test/store-readings.int.test.ts',
    mutants: [
      {
        breaks: 'a transfer that is read again gets a new first reading',
        before: 'coalesce(before.first_seen_at, now())',
        after: 'coalesce(now(), before.first_seen_at)',
        noticedBy: 'is the earliest, in whatever block and way it is read again',
      },
      {
        breaks: 'a first reading that was not live becomes live',
        before: 'coalesce(before.live, is_live)',
        after: 'coalesce(before.live, false) or is_live',
        noticedBy: 'does not become live later, even if an earlier release stored one for each block',
      },
      {
        breaks: 'the end of a window is inside it',
        before: 'where least(block_timestamp, made_by) < closes',
        after: 'where least(block_timestamp, made_by) <= closes',
        noticedBy: 'whose end is that second',
      },
      {
        breaks: 'a transfer read in time in a block with a lagging timestamp is outside the window',
        before: 'case when live then first_seen_at else',
        after: 'case when not live then first_seen_at else',
        noticedBy: 'that begins before a lagging block was read',
      },
      {
        breaks: 'a page repeats the last transfer of the one before',
        before: '(block_number, transaction_id, transaction_event_index) > ($4, $5, $6::integer)',
        after: '(block_number, transaction_id, transaction_event_index) >= ($4, $5, $6::integer)',
        noticedBy: 'are found page by page, each once',
      },
    ],
  },
  {
    file: 'services/chain-watcher/src/watches/watch.sql.ts',
    tests: store,
    mutants: [
      {
        breaks: 'a back-fill skips blocks that were not read',
        before: 'and backfill_next between $3 and $4',
        after: 'and backfill_next <= $4 and $3::bigint is not null',
        noticedBy: 'a back-fill survives a crash at any point and ends at its last block',
      },
      {
        breaks: 'a watch ends although a payment still needs it',
        before: `where network = $1 and state = 'watching' and watched_until < $2 and address in (
       select address from watch where network = $1 and state = 'watching' and watched_until < $2 limit $3)`,
        after: `where network = $1 and state = 'watching' and address in (
       select address from watch where network = $1 and state = 'watching' limit $3)`,
        noticedBy: 'a watch ends by chain time, and a new payment begins another',
      },
      {
        breaks: 'a reorg does not restore the watches that ended in its blocks',
        before: `state = 'ended' and ended_through > to_timestamp($2)`,
        after: `state = 'ended' and ended_through < to_timestamp($2)`,
        noticedBy: 'wallets whose watching ended with them are watched again, and no others',
      },
    ],
  },
  {
    file: 'services/chain-watcher/src/transfers/transfer.sql.ts',
    tests: proofs,
    mutants: [
      {
        breaks: 'a transfer in a block that is gone is confirmed',
        before: "and block_hash = decode(block, 'hex') and phase = 'seen'",
        after: "and block_hash = decode(block, 'hex') and phase <> 'confirmed'",
        noticedBy: 'is in another block by now, has no proof',
      },
    ],
  },
  {
    file: 'services/chain-watcher/src/transfers/proof.sql.ts',
    tests: proofs,
    mutants: [
      {
        breaks: 'a proof of another block is given',
        before: 'and p.transaction_id = id and p.block_hash = t.block_hash',
        after: 'and p.transaction_id = id and p.block_hash <> t.block_hash',
        noticedBy: 'a proof is kept byte for byte',
      },
      {
        breaks: 'a transfer that is not confirmed has a proof',
        before: "and t.phase = 'confirmed'",
        after: "and t.phase <> 'retracted'",
        noticedBy: 'a transfer that is not confirmed',
      },
      {
        breaks: 'an endpoint confirms the block that it showed itself',
        before: 'do update set endpoint = excluded.endpoint',
        after: 'do update set endpoint = transfer_proof.endpoint',
        noticedBy: 'a block that another endpoint shows again',
      },
    ],
  },
];
