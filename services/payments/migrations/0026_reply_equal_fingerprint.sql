-- The fingerprint of the request that meant the same when this one came: with `expires_in` where it was absent, without it where it was
-- the deployment's PAYMENT_TTL_SECONDS. Null for a request that has no such other form, and for replies of earlier releases.
alter table idempotent_reply add column equal_fingerprint bytea;
