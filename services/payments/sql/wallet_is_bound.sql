-- Whether the wallet has an owner by now: this statement sees what was committed since the one that calls it began.
create or replace function wallet_is_bound(of_address text) returns boolean language plpgsql as $$
begin
  return exists (select from wallet where address = of_address);
end $$;
