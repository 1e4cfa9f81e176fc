-- After schemas.sql, which gives every role a password that nobody knows.
alter role quittance_gateway password 'local-only';
alter role quittance_payments password 'local-only';
alter role quittance_chain password 'local-only';
alter role quittance_webhooks password 'local-only';
alter role quittance_quota password 'local-only';
