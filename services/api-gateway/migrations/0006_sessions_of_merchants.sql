-- Signing a merchant out everywhere, and forgetting its sessions that are over.
create index concurrently operator_session_merchant on operator_session (merchant_id);
