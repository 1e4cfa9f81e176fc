-- When the database was last copied, and when a copy last failed: one row. Whatever makes the copies sets the times (docs/backup.md). Both
-- are null where nothing does, and no alert is about backups there.
create table backup_report (
  only_row boolean primary key default true check (only_row),
  succeeded_at timestamptz,
  failed_at timestamptz
);

insert into backup_report default values;
