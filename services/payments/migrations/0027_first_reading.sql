-- When chain-watcher first read a transfer, the earliest that it has published, and whether it read the network without a gap then. Null in
-- rows of earlier releases: they were known when they were written, at `observed_at`.
alter table transfer add column first_seen_at timestamptz(3);
alter table transfer add column live boolean not null default false;

-- The payments that a transfer may be for when there are several; where there is one it is `related_payment_id`.
alter table transfer add column candidates text[] collate "C";

-- Whether everybody who is notified of money that pays nothing has been. True for what earlier releases write, who notify at once.
alter table transfer add column notified boolean not null default true;

-- What is there already fits: these are the old lists and one more reason, so that no row needs to be read.
alter table transfer drop constraint transfer_reason_check;
alter table transfer add constraint transfer_reason_check
  check (reason in ('underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate', 'ambiguous')) not valid;
alter table transfer_acceptance drop constraint transfer_acceptance_unmatched_reason_check;
alter table transfer_acceptance add constraint transfer_acceptance_unmatched_reason_check
  check (unmatched_reason in ('underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate', 'ambiguous')) not valid;

