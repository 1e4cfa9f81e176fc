-- What operators did, by merchant and by wallet, newest first.
create index wallet_release_merchant on wallet_release (merchant_id, released_at);
create index wallet_release_address on wallet_release (address, released_at);
create index transfer_acceptance_merchant on transfer_acceptance (merchant_id, accepted_at);
create index incident_resolved on incident (merchant_id, resolved_at) where resolved_at is not null;
