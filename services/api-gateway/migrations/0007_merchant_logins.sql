-- People of a merchant who look at its data in the console. A name stays that person's, because audits name people by it.
create table merchant_login (
  merchant_id text not null references merchant,
  name text not null check (name ~ '^[a-z][a-z0-9._-]{1,39}$'),
  credential_hash bytea not null unique check (octet_length(credential_hash) = 32),
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  disabled_at timestamptz,
  primary key (merchant_id, name)
);

-- A session or a link of a merchant's is that of one of these people. No release has made one without.
alter table operator_session
  add column login text,
  add constraint operator_session_login foreign key (merchant_id, login) references merchant_login,
  add constraint operator_session_named check ((merchant_id is null) = (login is null));
alter table sign_in_link
  add column login text,
  add constraint sign_in_link_login foreign key (merchant_id, login) references merchant_login,
  add constraint sign_in_link_named check ((merchant_id is null) = (login is null));
