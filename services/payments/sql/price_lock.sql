-- The key of the advisory lock on a price. A creation with a unique amount of it takes the lock exclusively; plain ones share it. Merchants
-- may share an address, so the lock on a merchant's gate is not enough.
create or replace function price_lock(on_network text, to_recipient text, price_units bigint) returns bigint language sql immutable as $$
  select hashtextextended('price ' || on_network || ' ' || to_recipient || ' ' || price_units, 0)
$$;
