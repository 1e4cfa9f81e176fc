-- Whether a payment with a unique amount waits near a price: a plain payment of that price is then refused.
create index concurrently payment_unique_open on payment (network, recipient, (amount_units / 10000))
  where requested_amount is not null and status in ('PENDING', 'CHECKING');
