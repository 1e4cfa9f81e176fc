-- The key of the advisory lock on an address. A creation that needs the address for itself takes it exclusively; others share it.
create or replace function address_lock(on_network text, address text) returns bigint language sql immutable as $$
  select hashtextextended('address ' || on_network || ' ' || address, 0)
$$;
