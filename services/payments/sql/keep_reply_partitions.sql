-- Makes the partitions of this month and the next two, and drops the oldest one whose last reply is over 31 days old. Any number of
-- replicas may call it at any time. Returns true when it dropped one: there may be more.
--
-- Every creation reads and writes idempotent_reply. Making or dropping a partition with plain statements locks the whole table: behind one
-- long reader, such as a backup, creations would wait for this function and get 503.
create or replace function keep_reply_partitions() returns boolean language plpgsql as $$
declare
  this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  month timestamp;
  partition_name text;
begin
  perform pg_advisory_xact_lock(hashtextextended('idempotent_reply', 0));
  for month in select generate_series(this_month, this_month + interval '2 months', interval '1 month') loop
    partition_name := 'idempotent_reply_' || to_char(month, 'YYYY_MM');
    if to_regclass(partition_name) is null then
      -- Attaching a table, unlike creating one as a partition, needs no lock that a creation would wait for.
      execute format('create table %I (like idempotent_reply including all)', partition_name);
      execute format('alter table idempotent_reply attach partition %I for values from (%L) to (%L)', partition_name,
                     month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC');
    end if;
  end loop;

  select child.relname into partition_name from pg_inherits join pg_class child on child.oid = inhrelid
   where inhparent = 'idempotent_reply'::regclass
     and child.relname < 'idempotent_reply_' || to_char((now() - interval '31 days') at time zone 'UTC', 'YYYY_MM')
   order by child.relname limit 1;
  if not found then return false; end if;
  begin
    -- Creations wait as long as this does, so it gives up soon: the drop can wait for the next call.
    perform set_config('lock_timeout', '50ms', true);
    execute format('drop table %I', partition_name);
  exception when lock_not_available then
    return false;
  end;
  return true;
end $$;

-- A new installation creates payments at once.
select keep_reply_partitions();
