-- A network on which no payment waits is hardly looked at, and payments from before the table of those that wait are not in it: for a day
-- each network that is scanned already counts as one on which a payment has just been closed.
insert into unfinished_payment (payment_id, network, closed_at)
  select 'before the upgrade on ' || network, network, now() + interval '1 day' from cursor;
