-- Forgetting old attempts of strangers, however many changes of accounts lie between them.
create index concurrently operator_audit_strangers on operator_audit (at) where operator is null;
