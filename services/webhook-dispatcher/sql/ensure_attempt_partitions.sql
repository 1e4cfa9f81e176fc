-- Creates the attempt partitions of this month and the next two. Running it again does nothing; concurrent calls wait for each other.
create or replace function ensure_attempt_partitions() returns void language plpgsql as $$
declare
  month date;
begin
  for month in
    select (date_trunc('month', now() at time zone 'UTC') + n * interval '1 month')::date from generate_series(0, 2) n
  loop
    continue when to_regclass('attempt_' || to_char(month, 'YYYYMM')) is not null;
    perform pg_advisory_xact_lock(hashtextextended('webhooks attempt partitions', 0));
    execute format(
      'create table if not exists %I partition of attempt for values from (%L) to (%L)',
      'attempt_' || to_char(month, 'YYYYMM'),
      to_char(month, 'YYYY-MM-DD') || ' 00:00+00',
      to_char(month + interval '1 month', 'YYYY-MM-DD') || ' 00:00+00'
    );
  end loop;
end
$$;

-- Before the first attempt: a row in the default partition would prevent the partition of its month.
select ensure_attempt_partitions();
