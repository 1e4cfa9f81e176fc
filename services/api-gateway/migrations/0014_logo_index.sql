-- A page loads the logo by its hash.
create index concurrently merchant_logo on merchant (logo_sha256) where logo_sha256 is not null;
