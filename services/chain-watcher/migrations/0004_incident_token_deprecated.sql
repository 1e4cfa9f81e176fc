-- The owner of a network's USDT contract has put another contract in its place. Earlier releases write the other kinds only.
alter table incident drop constraint incident_kind_check;
alter table incident add constraint incident_kind_check check (kind in ('fork_below_finalized', 'confirmed_transfers_retracted',
  'transfer_missed', 'transfer_unseen_by_audit', 'endpoints_disagree', 'token_deprecated'));
