-- Whether a notice of this type must not be sent after the PAID event of its payment.
create or replace function precedes_paid(event_type text) returns boolean language sql immutable parallel safe as $$
  select event_type in ('payment.checking', 'payment.expired', 'payment.cancelled')
$$;
