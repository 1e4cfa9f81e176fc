-- One export of a merchant at a time, whichever process carries it out. Who holds it extends it; that of one that was killed ends.
create table export_lease (
  merchant_id text collate "C" primary key,
  holder      uuid not null,
  ends_at     timestamptz not null
);
