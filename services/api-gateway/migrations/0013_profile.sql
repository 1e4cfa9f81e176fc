-- What else customers see of a merchant, beside display_name. Null where the merchant has not set it.
alter table merchant
  add column logo bytea check (octet_length(logo) between 1 and 32768),
  add column logo_sha256 bytea check (octet_length(logo_sha256) = 32),
  add column accent_color text check (accent_color ~ '^#[0-9a-f]{6}$'),
  add column support_url text,
  add column support_email text check (char_length(support_email) between 3 and 254),
  add column embed_origins text[] check (cardinality(embed_origins) <= 10),
  add constraint merchant_logo_with_hash check ((logo is null) = (logo_sha256 is null));
