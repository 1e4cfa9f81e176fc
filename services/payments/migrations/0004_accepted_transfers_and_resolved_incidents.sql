-- What operators decide: that a transfer which pays nothing pays a payment after all, and that an incident is dealt with.

-- Who made which transfer pay which payment, why, and what the chain said of it at that moment. Never updated, never deleted.
create table transfer_acceptance (
  acceptance_id           uuid primary key default gen_random_uuid(),
  payment_id              text collate "C" not null unique references payment,
  merchant_id             text collate "C" not null,
  -- The payment's status until then.
  status_before           text not null check (status_before in ('PENDING', 'EXPIRED', 'CANCELLED')),
  network                 text collate "C" not null,
  transaction_id          text collate "C" not null,
  transaction_event_index integer not null,
  -- Why it did not pay by itself; null when nothing was wrong with it but that no payment waited.
  unmatched_reason        text check (unmatched_reason in ('underpaid', 'overpaid', 'late', 'after_cancel', 'duplicate')),
  -- What was accepted. When the chain later says something else of this transfer, that is an incident.
  recipient               text collate "C" not null,
  amount_units            numeric(78, 0) not null,
  decimals                integer not null,
  block_number            bigint not null,
  block_hash              text not null,
  block_timestamp         timestamptz(3) not null,
  confirmations           integer not null,
  actor                   text not null,
  reason                  text not null,
  accepted_at             timestamptz(3) not null,
  unique (network, transaction_id, transaction_event_index),
  foreign key (network, transaction_id, transaction_event_index) references transfer
);

-- Null, all three, as long as the incident is open.
alter table incident
  add column resolved_by text,
  add column resolved_reason text,
  add constraint incident_resolved_by_somebody
    check ((resolved_at is null) = (resolved_by is null) and (resolved_at is null) = (resolved_reason is null));

-- The operator's lists, newest first; the open ones are also counted all the time.
create index incident_opened on incident (opened_at, incident_id);
create index incident_open on incident (opened_at, incident_id) where resolved_at is null;
