-- What the merchant chose to be told, as webhook-dispatcher has it in this version of the endpoint. Null while that is not known: PAID.
alter table gate add column webhook_events text[];
alter table gate add column webhook_version integer;

-- Notices of transfers that pay nothing, by wallet: how many were raised since `started_at`. The window is over an hour after that, and
-- the next notice starts another one. A wallet that had none has no row.
create table unmatched_notice_window (
  network    text collate "C" not null,
  recipient  text collate "C" not null,
  started_at timestamptz(3) not null,
  raised     integer not null,
  primary key (network, recipient)
);
