-- Picks the amount of a payment that asks for a unique one: price_units plus 1 to 9999 millionths. It tries the 99 amounts with four
-- decimals first, in random order, and last among them those that the payer of another unfinished payment would send by dropping the last
-- digit. When none of them is free, it picks one with six decimals. Returns null when no amount is free, or while a payment of the bare
-- price is unfinished: a payer who drops the last digits would pay that one. Returns 0 when another creation holds the price; the caller
-- then has to ask again.
--
-- An amount is free when
-- - no payment with it is unfinished, and none ended within the last 24 hours. This counts payments of every merchant, with or without
--   requested_amount. The newest payment of an amount decides, because it began after the others had ended; payments that were paid
--   after their window are the exception;
-- - it has four decimals, and no unfinished payment has an amount with six that is cut or rounded to it;
-- - it has six decimals, and the amounts it is cut or rounded to belong to no unfinished payment.
--
-- The work is bounded, however many payments there are. An amount takes one index look-up when it is not free and three when it is, each of
-- one entry, and nearly always one of the first amounts is free. In the worst case all 9,999 are checked, in less than a tenth of a second,
-- so a free amount is always found if there is one: steps of 7919, a prime, visit every place once before the first repeats. Under the
-- lock, creations choose amounts of one price one after the other. A plain payment of an amount in between takes no lock: payment_slot
-- decides there, and the creation chooses again.
--
-- Each look-up is ordered like one index, although an equality would return the same rows: a plan made while the tables were empty would
-- otherwise use any other index, too.
create or replace function choose_unique_amount(on_network text, to_recipient text, price_units bigint)
returns bigint language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  if not pg_try_advisory_xact_lock(price_lock(on_network, to_recipient, price_units)) then return 0; end if;
  -- This statement sees what the lock's last holder wrote.
  return (
    with taken as materialized (
      select coalesce(array_agg(step), '{}') as steps
        from (select step, price_units + 100 * step as units from generate_series(1, 100) as step offset 0) as four
       where (select true from payment where network = on_network and recipient = to_recipient and amount_units between units and units
                                         and status in ('PENDING', 'CHECKING') order by amount_units limit 1)
    ), halves as materialized (
      -- The halves of ten-thousandths whose amounts are neither cut nor rounded to one that is taken.
      select array_agg(half) as of_step, 50 * count(*)::integer as places, floor(random() * 10000)::integer as start
        from generate_series(0, 199) as half, taken
       where half / 2 <> all (steps) and (half + 1) / 2 <> all (steps)
    ), candidate as (
      (select price_units + 100 * step as units from generate_series(1, 99) as step order by step % 10 = 0, random())
      union all
      select price_units + 50 * of_step[1 + place / 50] + place % 50
        from (select of_step, (start + 7919 * generate_series(0, places - 1)) % places as place from halves) as places
       where (50 * of_step[1 + place / 50] + place % 50) % 100 <> 0
      -- With "offset 0" and "limit 1" they are checked one after the other until one is free.
      offset 0)
    select units from candidate
     where (select true from payment where network = on_network and recipient = to_recipient
                                       and amount_units between price_units and price_units
                                       and status in ('PENDING', 'CHECKING') order by amount_units limit 1) is null
       and (select status in ('PENDING', 'CHECKING') or coalesce(paid_at, cancelled_at, expires_at) > now() - interval '24 hours'
              from payment where network = on_network and recipient = to_recipient and amount_units between units and units
             order by amount_units desc, created_at desc limit 1) is not true
       and (units % 100 <> 0 or (select true from payment where network = on_network and recipient = to_recipient
                                                            and amount_units between units - 50 and units + 99
                                                            and status in ('PENDING', 'CHECKING') order by amount_units limit 1) is null)
       and (select true from payment where network = on_network and recipient = to_recipient and amount_units = units
                                       and status = 'PAID' and paid_at > least(expires_at, cancelled_at)
                                       and paid_at > now() - interval '24 hours' limit 1) is null
     limit 1);
end $$;
