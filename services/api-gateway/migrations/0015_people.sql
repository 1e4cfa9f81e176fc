-- What a merchant's person may do. Those of earlier releases only read.
alter table merchant_login
  add column role text not null default 'viewer' check (role in ('viewer', 'staff', 'owner'));

-- A key that creates, cancels and sends again, and changes nothing else.
alter table additional_api_key drop constraint additional_api_key_scope_check;
alter table additional_api_key
  add constraint additional_api_key_scope_check check (scope in ('all', 'orders', 'read'));

-- Whether a passkey has shown who uses the session, and where it began.
alter table operator_session
  add column has_passkey boolean not null default false,
  add column client text,
  add column user_agent text;

-- Passkeys of operators and of merchants' people: the public half of a key pair that never leaves its device.
create table passkey (
  credential_id bytea primary key check (octet_length(credential_id) between 1 and 1023),
  operator text references operator,
  merchant_id text,
  login text,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null check (char_length(name) between 1 and 60),
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  foreign key (merchant_id, login) references merchant_login,
  check (num_nonnulls(operator, merchant_id) = 1),
  check ((merchant_id is null) = (login is null))
);

create index passkey_operator on passkey (operator) where operator is not null;
create index passkey_login on passkey (merchant_id, login) where merchant_id is not null;

-- A random text that a passkey signs, once. Without a session it is for signing in; with a request it confirms that one.
create table passkey_challenge (
  challenge text primary key,
  session_hash bytea references operator_session on delete cascade,
  request_hash text,
  ends_at timestamptz not null,
  check (request_hash is null or session_hash is not null)
);

create index passkey_challenge_ends_at on passkey_challenge (ends_at);
create index passkey_challenge_session on passkey_challenge (session_hash) where session_hash is not null;
