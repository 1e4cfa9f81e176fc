-- Who cancelled which payment by hand, and why. Never updated, never deleted. A cancelled payment that was paid after all keeps it.
create table payment_cancellation (
  payment_id   text collate "C" primary key references payment,
  merchant_id  text collate "C" not null,
  actor        text not null,
  reason       text not null,
  cancelled_at timestamptz(3) not null
);

create index payment_cancellation_merchant on payment_cancellation (merchant_id, cancelled_at);
