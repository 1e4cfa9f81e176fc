-- What customers read as the one who is paid. Operators know the merchant by its name.
alter table merchant add column display_name text check (char_length(display_name) between 1 and 60);

-- API keys beside the one in api_key. That one stays where it is: a process of the previous release, which knows neither scopes nor
-- several keys, goes on admitting and rotating it, and refuses all of these.
create table additional_api_key (
  key_hash bytea primary key check (octet_length(key_hash) = 32),
  merchant_id text not null references merchant,
  name text not null check (char_length(name) between 1 and 60),
  scope text not null check (scope in ('all', 'read')),
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz
);

-- Two keys that work never have one name.
create unique index additional_api_key_name on additional_api_key (merchant_id, name) where revoked_at is null;

create index additional_api_key_revoked on additional_api_key (merchant_id, revoked_at);
