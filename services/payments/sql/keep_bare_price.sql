-- The amount of a plain payment of a whole cent: the price itself. Null while a payment with a unique amount of this price is unfinished,
-- because a payer of that one who drops the last digits would pay the plain one. 0 while another creation is choosing an amount of this
-- price: the answer is not known yet.
--
-- Takes one look-up in an index that has only the unfinished payments with a unique amount. The look-up is ordered like the index, for the
-- reason in choose_unique_amount.sql. It sees what the lock's last holder wrote, because each statement here sees what is committed when it
-- starts.
create or replace function keep_bare_price(on_network text, to_recipient text, price_units bigint) returns bigint language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock_shared(price_lock(on_network, to_recipient, price_units)) then return 0; end if;
  perform from payment
    where network = on_network and recipient = to_recipient
      and amount_units / 10000 between price_units / 10000 and price_units / 10000
      and requested_amount is not null and status in ('PENDING', 'CHECKING')
    order by amount_units / 10000 limit 1;
  return case when not found then price_units end;
end $$;
