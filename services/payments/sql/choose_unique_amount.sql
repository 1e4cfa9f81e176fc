-- Picks the amount of a payment that asks for a unique one: price_units and one to 99 ten-thousandths of a USDT, in millionths. By chance
-- among those that no payment on this address has had for 24 hours; where there is none, the one whose last payment closed longest ago.
-- Returns null when every one belongs to an unfinished payment, or when the bare price does: then a payer who drops the last digits
-- would pay that one.
--
-- Two index scans of about a hundred entries each, however many payments there are: an amount closes twice within 24 hours only after
-- all others have (docs/adr/0032).
create or replace function choose_unique_amount(on_network text, to_recipient text, price_units bigint)
returns bigint language plpgsql as $$
declare
  unfinished bigint[];
begin
  select array_agg(amount_units) into unfinished from payment
   where network = on_network and recipient = to_recipient and amount_units between price_units and price_units + 9900
     and status in ('PENDING', 'CHECKING');
  if price_units = any (unfinished) then return null; end if;
  return (
    with resting as (
      select amount_units, max(coalesce(paid_at, cancelled_at, expires_at)) as closed_at from payment
       where network = on_network and recipient = to_recipient and amount_units / 10000 = price_units / 10000
         and coalesce(paid_at, cancelled_at, expires_at) > now() - interval '24 hours'
         and requested_amount is not null and status in ('PAID', 'EXPIRED', 'CANCELLED')
       group by amount_units
    )
    select candidate.amount_units
      from (select price_units + 100 * step from generate_series(1, 99) as step) as candidate (amount_units)
      left join resting using (amount_units)
     where candidate.amount_units <> all (coalesce(unfinished, '{}'))
     order by resting.closed_at nulls first, random()
     limit 1);
end $$;
