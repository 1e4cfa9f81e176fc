-- An answer of an endpoint that is proved to be false. Earlier releases write the other kinds only.
alter table incident drop constraint incident_kind_check;
alter table incident add constraint incident_kind_check check (kind in ('fork_below_finalized', 'confirmed_transfers_retracted',
  'transfer_missed', 'transfer_unseen_by_audit', 'endpoints_disagree', 'token_deprecated', 'false_answer'));

-- How many endpoints called the transfer's block final, by its hash, when the transfer was confirmed. Of earlier rows it is not known.
alter table transfer add column agreed_by smallint;

-- What proves a transaction's receipt to somebody who trusts the hash of its block. Networks without proven receipts have none.
create table transfer_proof (
  network text not null,
  transaction_id text not null check (transaction_id ~ '^[0-9a-f]{64}$'),
  block_hash bytea not null check (octet_length(block_hash) = 32),
  -- The endpoint that showed the block: its position in the networks file, from 0.
  endpoint smallint not null,
  -- Of the transaction in its block, from 0.
  transaction_index integer not null check (transaction_index >= 0),
  -- The block's header as RLP.
  header bytea not null,
  -- The branch of the receipts trie, from its root to the receipt's leaf; null for a receipt that is too large to keep.
  nodes bytea[],
  primary key (network, transaction_id, block_hash)
);
