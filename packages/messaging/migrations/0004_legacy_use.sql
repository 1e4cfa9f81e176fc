-- When something was last accepted that is accepted only while INTERNAL_TOKEN is set; a row for each kind. `ops trust check` reads it
-- before the setting is removed.
create table legacy_use (
  kind text primary key,
  last_at timestamptz not null
);
