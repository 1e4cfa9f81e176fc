-- An address has one unfinished payment that has it for itself.
create unique index concurrently payment_dedicated_open on payment (network, recipient)
  where rest_seconds is not null and status in ('PENDING', 'CHECKING');
