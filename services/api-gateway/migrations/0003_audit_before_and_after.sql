-- What a change found and what it left, in the fields it touched; never a credential or its hash. Null in rows from before this
-- migration, and in those that replicas of the release before still write during an upgrade.
alter table merchant_audit add column before jsonb, add column after jsonb;
