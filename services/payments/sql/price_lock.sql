-- The key of the advisory lock on a price: creations with a unique amount of it hold it alone, plain ones of the price share it.
-- Merchants may share an address, so their gates do not put these in order.
create or replace function price_lock(on_network text, to_recipient text, price_units bigint) returns bigint language sql immutable as $$
  select hashtextextended('price ' || on_network || ' ' || to_recipient || ' ' || price_units, 0)
$$;
