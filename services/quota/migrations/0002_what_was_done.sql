-- What was asked for, beside what it changed. Rows from before this migration, and those that replicas of the release before
-- still write during an upgrade, say only that something was changed.
alter table policy_change add column action text not null default 'change';
