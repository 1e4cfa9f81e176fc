-- Written by npm run manifests, from packages/postgres/src/roles/service.sql.
set quittance.service_schema = 'gateway';
set quittance.service_role = 'quittance_gateway';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it once per service, as the database's owner with
-- CREATEROLE; no superuser is needed. Running it again changes only the passwords and the roles' settings. It reads three
-- settings, so that both psql and a program can run this file:
--   quittance.service_schema, quittance.service_role, quittance.service_password
-- and two more that give the service a second login while its password is being replaced (docs/operations.md). This login
-- acts as the service's role from its first statement on. It therefore owns nothing itself and has the same permissions:
--   quittance.service_login, quittance.service_login_password
-- Pass the passwords with `set` or set_config(), not in PGOPTIONS: the server repeats what it can't parse there in an error.
do $$
declare
  schema_name constant text := current_setting('quittance.service_schema');
  role_name constant text := current_setting('quittance.service_role');
  login_name constant text := nullif(current_setting('quittance.service_login', true), '');
  -- From PostgreSQL 16 on, a role may be administered without the right to act as it.
  acting constant text := case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end;
  is_granted boolean := false;
  found_name text;
  login record;
begin
  -- An administrator without these powers may not even take them from a role, so such a role is refused.
  select rolname into found_name from pg_roles
   where rolname in (role_name, login_name)
     and (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls);
  if found then
    raise exception 'role % must not be used by a service: it is a superuser or has createdb, createrole, replication or bypassrls. Name another role, or remove these attributes',
      found_name using errcode = 'invalid_role_specification';
  end if;
  select pg_get_userbyid(datdba) into found_name from pg_database
   where datname = current_database() and not pg_has_role(datdba, 'usage');
  if found then
    raise exception 'role % is not the owner of database %. Run this as %, or in a database of your own',
      current_user, current_database(), found_name using errcode = 'insufficient_privilege';
  end if;

  for login in
    select name, attributes, password_setting
      from (values (role_name, '', 'quittance.service_password'),
                   (login_name, 'noinherit', 'quittance.service_login_password')) l (name, attributes, password_setting)
     where name is not null
  loop
    if not exists (select from pg_roles where rolname = login.name) then
      execute format('create role %I', login.name);
    end if;
    -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
    -- password.
    begin
      execute format(
        'alter role %I login %s password %L', login.name, login.attributes, current_setting(login.password_setting)
      );
    exception when others then
      raise exception 'role % could not be changed: %', login.name, sqlerrm using errcode = sqlstate;
    end;
  end loop;

  -- To create a schema for a role, the administrator must be able to act as it.
  if not pg_has_role(role_name, acting) then
    execute format('grant %I to current_user', role_name);
    is_granted := true;
  end if;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  revoke all on schema public from public;
  select pg_get_userbyid(nspowner) into found_name from pg_namespace where nspname = schema_name;
  if not found then
    execute format('create schema %I authorization %I', schema_name, role_name);
  elsif found_name <> role_name then
    execute format('alter schema %I owner to %I', schema_name, role_name);
  end if;

  if login_name is not null then
    execute format('grant %I to %I', role_name, login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
  end if;
  -- A service sends the same settings when it connects. A pooler drops those, but not these (docs/managed.md).
  for login in
    select name, setting, value
      from unnest(array[role_name, login_name]) l (name),
           (values ('search_path', schema_name), ('timezone', 'UTC'), ('statement_timeout', '5s'), ('lock_timeout', '2s'),
                   ('idle_in_transaction_session_timeout', '10s')) s (setting, value)
     where name is not null
  loop
    execute format('grant connect on database %I to %I', current_database(), login.name);
    execute format('alter role %I in database %I set %I = %L', login.name, current_database(), login.setting, login.value);
  end loop;

  if is_granted then
    execute format('revoke %I from current_user', role_name);
  end if;
end
$$;

set quittance.service_schema = 'payments';
set quittance.service_role = 'quittance_payments';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it once per service, as the database's owner with
-- CREATEROLE; no superuser is needed. Running it again changes only the passwords and the roles' settings. It reads three
-- settings, so that both psql and a program can run this file:
--   quittance.service_schema, quittance.service_role, quittance.service_password
-- and two more that give the service a second login while its password is being replaced (docs/operations.md). This login
-- acts as the service's role from its first statement on. It therefore owns nothing itself and has the same permissions:
--   quittance.service_login, quittance.service_login_password
-- Pass the passwords with `set` or set_config(), not in PGOPTIONS: the server repeats what it can't parse there in an error.
do $$
declare
  schema_name constant text := current_setting('quittance.service_schema');
  role_name constant text := current_setting('quittance.service_role');
  login_name constant text := nullif(current_setting('quittance.service_login', true), '');
  -- From PostgreSQL 16 on, a role may be administered without the right to act as it.
  acting constant text := case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end;
  is_granted boolean := false;
  found_name text;
  login record;
begin
  -- An administrator without these powers may not even take them from a role, so such a role is refused.
  select rolname into found_name from pg_roles
   where rolname in (role_name, login_name)
     and (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls);
  if found then
    raise exception 'role % must not be used by a service: it is a superuser or has createdb, createrole, replication or bypassrls. Name another role, or remove these attributes',
      found_name using errcode = 'invalid_role_specification';
  end if;
  select pg_get_userbyid(datdba) into found_name from pg_database
   where datname = current_database() and not pg_has_role(datdba, 'usage');
  if found then
    raise exception 'role % is not the owner of database %. Run this as %, or in a database of your own',
      current_user, current_database(), found_name using errcode = 'insufficient_privilege';
  end if;

  for login in
    select name, attributes, password_setting
      from (values (role_name, '', 'quittance.service_password'),
                   (login_name, 'noinherit', 'quittance.service_login_password')) l (name, attributes, password_setting)
     where name is not null
  loop
    if not exists (select from pg_roles where rolname = login.name) then
      execute format('create role %I', login.name);
    end if;
    -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
    -- password.
    begin
      execute format(
        'alter role %I login %s password %L', login.name, login.attributes, current_setting(login.password_setting)
      );
    exception when others then
      raise exception 'role % could not be changed: %', login.name, sqlerrm using errcode = sqlstate;
    end;
  end loop;

  -- To create a schema for a role, the administrator must be able to act as it.
  if not pg_has_role(role_name, acting) then
    execute format('grant %I to current_user', role_name);
    is_granted := true;
  end if;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  revoke all on schema public from public;
  select pg_get_userbyid(nspowner) into found_name from pg_namespace where nspname = schema_name;
  if not found then
    execute format('create schema %I authorization %I', schema_name, role_name);
  elsif found_name <> role_name then
    execute format('alter schema %I owner to %I', schema_name, role_name);
  end if;

  if login_name is not null then
    execute format('grant %I to %I', role_name, login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
  end if;
  -- A service sends the same settings when it connects. A pooler drops those, but not these (docs/managed.md).
  for login in
    select name, setting, value
      from unnest(array[role_name, login_name]) l (name),
           (values ('search_path', schema_name), ('timezone', 'UTC'), ('statement_timeout', '5s'), ('lock_timeout', '2s'),
                   ('idle_in_transaction_session_timeout', '10s')) s (setting, value)
     where name is not null
  loop
    execute format('grant connect on database %I to %I', current_database(), login.name);
    execute format('alter role %I in database %I set %I = %L', login.name, current_database(), login.setting, login.value);
  end loop;

  if is_granted then
    execute format('revoke %I from current_user', role_name);
  end if;
end
$$;

set quittance.service_schema = 'chain';
set quittance.service_role = 'quittance_chain';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it once per service, as the database's owner with
-- CREATEROLE; no superuser is needed. Running it again changes only the passwords and the roles' settings. It reads three
-- settings, so that both psql and a program can run this file:
--   quittance.service_schema, quittance.service_role, quittance.service_password
-- and two more that give the service a second login while its password is being replaced (docs/operations.md). This login
-- acts as the service's role from its first statement on. It therefore owns nothing itself and has the same permissions:
--   quittance.service_login, quittance.service_login_password
-- Pass the passwords with `set` or set_config(), not in PGOPTIONS: the server repeats what it can't parse there in an error.
do $$
declare
  schema_name constant text := current_setting('quittance.service_schema');
  role_name constant text := current_setting('quittance.service_role');
  login_name constant text := nullif(current_setting('quittance.service_login', true), '');
  -- From PostgreSQL 16 on, a role may be administered without the right to act as it.
  acting constant text := case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end;
  is_granted boolean := false;
  found_name text;
  login record;
begin
  -- An administrator without these powers may not even take them from a role, so such a role is refused.
  select rolname into found_name from pg_roles
   where rolname in (role_name, login_name)
     and (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls);
  if found then
    raise exception 'role % must not be used by a service: it is a superuser or has createdb, createrole, replication or bypassrls. Name another role, or remove these attributes',
      found_name using errcode = 'invalid_role_specification';
  end if;
  select pg_get_userbyid(datdba) into found_name from pg_database
   where datname = current_database() and not pg_has_role(datdba, 'usage');
  if found then
    raise exception 'role % is not the owner of database %. Run this as %, or in a database of your own',
      current_user, current_database(), found_name using errcode = 'insufficient_privilege';
  end if;

  for login in
    select name, attributes, password_setting
      from (values (role_name, '', 'quittance.service_password'),
                   (login_name, 'noinherit', 'quittance.service_login_password')) l (name, attributes, password_setting)
     where name is not null
  loop
    if not exists (select from pg_roles where rolname = login.name) then
      execute format('create role %I', login.name);
    end if;
    -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
    -- password.
    begin
      execute format(
        'alter role %I login %s password %L', login.name, login.attributes, current_setting(login.password_setting)
      );
    exception when others then
      raise exception 'role % could not be changed: %', login.name, sqlerrm using errcode = sqlstate;
    end;
  end loop;

  -- To create a schema for a role, the administrator must be able to act as it.
  if not pg_has_role(role_name, acting) then
    execute format('grant %I to current_user', role_name);
    is_granted := true;
  end if;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  revoke all on schema public from public;
  select pg_get_userbyid(nspowner) into found_name from pg_namespace where nspname = schema_name;
  if not found then
    execute format('create schema %I authorization %I', schema_name, role_name);
  elsif found_name <> role_name then
    execute format('alter schema %I owner to %I', schema_name, role_name);
  end if;

  if login_name is not null then
    execute format('grant %I to %I', role_name, login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
  end if;
  -- A service sends the same settings when it connects. A pooler drops those, but not these (docs/managed.md).
  for login in
    select name, setting, value
      from unnest(array[role_name, login_name]) l (name),
           (values ('search_path', schema_name), ('timezone', 'UTC'), ('statement_timeout', '5s'), ('lock_timeout', '2s'),
                   ('idle_in_transaction_session_timeout', '10s')) s (setting, value)
     where name is not null
  loop
    execute format('grant connect on database %I to %I', current_database(), login.name);
    execute format('alter role %I in database %I set %I = %L', login.name, current_database(), login.setting, login.value);
  end loop;

  if is_granted then
    execute format('revoke %I from current_user', role_name);
  end if;
end
$$;

set quittance.service_schema = 'webhooks';
set quittance.service_role = 'quittance_webhooks';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it once per service, as the database's owner with
-- CREATEROLE; no superuser is needed. Running it again changes only the passwords and the roles' settings. It reads three
-- settings, so that both psql and a program can run this file:
--   quittance.service_schema, quittance.service_role, quittance.service_password
-- and two more that give the service a second login while its password is being replaced (docs/operations.md). This login
-- acts as the service's role from its first statement on. It therefore owns nothing itself and has the same permissions:
--   quittance.service_login, quittance.service_login_password
-- Pass the passwords with `set` or set_config(), not in PGOPTIONS: the server repeats what it can't parse there in an error.
do $$
declare
  schema_name constant text := current_setting('quittance.service_schema');
  role_name constant text := current_setting('quittance.service_role');
  login_name constant text := nullif(current_setting('quittance.service_login', true), '');
  -- From PostgreSQL 16 on, a role may be administered without the right to act as it.
  acting constant text := case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end;
  is_granted boolean := false;
  found_name text;
  login record;
begin
  -- An administrator without these powers may not even take them from a role, so such a role is refused.
  select rolname into found_name from pg_roles
   where rolname in (role_name, login_name)
     and (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls);
  if found then
    raise exception 'role % must not be used by a service: it is a superuser or has createdb, createrole, replication or bypassrls. Name another role, or remove these attributes',
      found_name using errcode = 'invalid_role_specification';
  end if;
  select pg_get_userbyid(datdba) into found_name from pg_database
   where datname = current_database() and not pg_has_role(datdba, 'usage');
  if found then
    raise exception 'role % is not the owner of database %. Run this as %, or in a database of your own',
      current_user, current_database(), found_name using errcode = 'insufficient_privilege';
  end if;

  for login in
    select name, attributes, password_setting
      from (values (role_name, '', 'quittance.service_password'),
                   (login_name, 'noinherit', 'quittance.service_login_password')) l (name, attributes, password_setting)
     where name is not null
  loop
    if not exists (select from pg_roles where rolname = login.name) then
      execute format('create role %I', login.name);
    end if;
    -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
    -- password.
    begin
      execute format(
        'alter role %I login %s password %L', login.name, login.attributes, current_setting(login.password_setting)
      );
    exception when others then
      raise exception 'role % could not be changed: %', login.name, sqlerrm using errcode = sqlstate;
    end;
  end loop;

  -- To create a schema for a role, the administrator must be able to act as it.
  if not pg_has_role(role_name, acting) then
    execute format('grant %I to current_user', role_name);
    is_granted := true;
  end if;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  revoke all on schema public from public;
  select pg_get_userbyid(nspowner) into found_name from pg_namespace where nspname = schema_name;
  if not found then
    execute format('create schema %I authorization %I', schema_name, role_name);
  elsif found_name <> role_name then
    execute format('alter schema %I owner to %I', schema_name, role_name);
  end if;

  if login_name is not null then
    execute format('grant %I to %I', role_name, login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
  end if;
  -- A service sends the same settings when it connects. A pooler drops those, but not these (docs/managed.md).
  for login in
    select name, setting, value
      from unnest(array[role_name, login_name]) l (name),
           (values ('search_path', schema_name), ('timezone', 'UTC'), ('statement_timeout', '5s'), ('lock_timeout', '2s'),
                   ('idle_in_transaction_session_timeout', '10s')) s (setting, value)
     where name is not null
  loop
    execute format('grant connect on database %I to %I', current_database(), login.name);
    execute format('alter role %I in database %I set %I = %L', login.name, current_database(), login.setting, login.value);
  end loop;

  if is_granted then
    execute format('revoke %I from current_user', role_name);
  end if;
end
$$;

set quittance.service_schema = 'quota';
set quittance.service_role = 'quittance_quota';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it once per service, as the database's owner with
-- CREATEROLE; no superuser is needed. Running it again changes only the passwords and the roles' settings. It reads three
-- settings, so that both psql and a program can run this file:
--   quittance.service_schema, quittance.service_role, quittance.service_password
-- and two more that give the service a second login while its password is being replaced (docs/operations.md). This login
-- acts as the service's role from its first statement on. It therefore owns nothing itself and has the same permissions:
--   quittance.service_login, quittance.service_login_password
-- Pass the passwords with `set` or set_config(), not in PGOPTIONS: the server repeats what it can't parse there in an error.
do $$
declare
  schema_name constant text := current_setting('quittance.service_schema');
  role_name constant text := current_setting('quittance.service_role');
  login_name constant text := nullif(current_setting('quittance.service_login', true), '');
  -- From PostgreSQL 16 on, a role may be administered without the right to act as it.
  acting constant text := case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end;
  is_granted boolean := false;
  found_name text;
  login record;
begin
  -- An administrator without these powers may not even take them from a role, so such a role is refused.
  select rolname into found_name from pg_roles
   where rolname in (role_name, login_name)
     and (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls);
  if found then
    raise exception 'role % must not be used by a service: it is a superuser or has createdb, createrole, replication or bypassrls. Name another role, or remove these attributes',
      found_name using errcode = 'invalid_role_specification';
  end if;
  select pg_get_userbyid(datdba) into found_name from pg_database
   where datname = current_database() and not pg_has_role(datdba, 'usage');
  if found then
    raise exception 'role % is not the owner of database %. Run this as %, or in a database of your own',
      current_user, current_database(), found_name using errcode = 'insufficient_privilege';
  end if;

  for login in
    select name, attributes, password_setting
      from (values (role_name, '', 'quittance.service_password'),
                   (login_name, 'noinherit', 'quittance.service_login_password')) l (name, attributes, password_setting)
     where name is not null
  loop
    if not exists (select from pg_roles where rolname = login.name) then
      execute format('create role %I', login.name);
    end if;
    -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
    -- password.
    begin
      execute format(
        'alter role %I login %s password %L', login.name, login.attributes, current_setting(login.password_setting)
      );
    exception when others then
      raise exception 'role % could not be changed: %', login.name, sqlerrm using errcode = sqlstate;
    end;
  end loop;

  -- To create a schema for a role, the administrator must be able to act as it.
  if not pg_has_role(role_name, acting) then
    execute format('grant %I to current_user', role_name);
    is_granted := true;
  end if;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  revoke all on schema public from public;
  select pg_get_userbyid(nspowner) into found_name from pg_namespace where nspname = schema_name;
  if not found then
    execute format('create schema %I authorization %I', schema_name, role_name);
  elsif found_name <> role_name then
    execute format('alter schema %I owner to %I', schema_name, role_name);
  end if;

  if login_name is not null then
    execute format('grant %I to %I', role_name, login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
  end if;
  -- A service sends the same settings when it connects. A pooler drops those, but not these (docs/managed.md).
  for login in
    select name, setting, value
      from unnest(array[role_name, login_name]) l (name),
           (values ('search_path', schema_name), ('timezone', 'UTC'), ('statement_timeout', '5s'), ('lock_timeout', '2s'),
                   ('idle_in_transaction_session_timeout', '10s')) s (setting, value)
     where name is not null
  loop
    execute format('grant connect on database %I to %I', current_database(), login.name);
    execute format('alter role %I in database %I set %I = %L', login.name, current_database(), login.setting, login.value);
  end loop;

  if is_granted then
    execute format('revoke %I from current_user', role_name);
  end if;
end
$$;
