-- Set for a payment that has its address for itself: how long the address rests after the payment's end.
alter table payment add column rest_seconds integer;
-- When its merchant ended the rest early.
alter table payment add column released_at timestamptz(3);
-- Which child of an extended key its address is.
alter table payment add column derivation_index integer;
-- The part of the amount that is enough, in percent; null means all of it.
alter table payment add column accept_from_percent integer;
-- What had arrived when it was paid, in millionths of a USDT; null when `amount_units` or its acceptance says it.
alter table payment add column paid_units numeric;

-- Whether it is one of several transfers that have paid related_payment_id together. The last one of them has payment_id instead.
alter table transfer add column counted boolean not null default false;

-- Until when no other payment may have the address of this one.
create function rest_ends_at(p payment) returns timestamptz language sql immutable as $$
  select case when p.status in ('PENDING', 'CHECKING') then 'infinity'
              else coalesce(p.released_at, coalesce(p.paid_at, p.cancelled_at, p.expires_at) + p.rest_seconds * interval '1 second') end
$$;

-- A pool's address is free again when its payment's rest has ended. The address of an extended key is given once.
create function move_pool_address() returns trigger language plpgsql as $$
begin
  update pool_address a set free_at = rest_ends_at(new)
    from address_source s
   where a.address = new.recipient and s.source_id = a.source_id and s.network = new.network and s.kind = 'list';
  if tg_op = 'INSERT' then
    delete from pool_address a using address_source s
     where a.address = new.recipient and s.source_id = a.source_id and s.network = new.network and s.kind = 'xpub';
  end if;
  return null;
end $$;

create trigger payment_moves_pool_address after insert or update of status, released_at on payment
  for each row when (new.rest_seconds is not null) execute function move_pool_address();

-- It has more columns now, under another signature.
drop function if exists creation_facts(jsonb);
