-- Written by npm run manifests, from packages/postgres/src/roles/service.sql.
set quittance.service_schema = 'gateway';
set quittance.service_role = 'quittance_gateway';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it as the superuser, once per service. Running it
-- again changes only the password. It reads three settings, so that both psql and a program can run this file:
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
begin
  if not exists (select from pg_roles where rolname = role_name) then
    execute format('create role %I', role_name);
  end if;
  -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
  -- password.
  begin
    execute format(
      'alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
      role_name, current_setting('quittance.service_password')
    );
  exception when others then
    raise exception 'role % could not be changed: %', role_name, sqlerrm using errcode = sqlstate;
  end;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to %I', current_database(), role_name);
  revoke all on schema public from public;

  if not exists (select from pg_namespace where nspname = schema_name) then
    execute format('create schema %I authorization %I', schema_name, role_name);
  end if;
  execute format('alter schema %I owner to %I', schema_name, role_name);
  execute format('alter role %I in database %I set search_path = %I', role_name, current_database(), schema_name);

  if login_name is not null then
    if not exists (select from pg_roles where rolname = login_name) then
      execute format('create role %I', login_name);
    end if;
    begin
      execute format(
        'alter role %I login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
        login_name, current_setting('quittance.service_login_password')
      );
    exception when others then
      raise exception 'role % could not be changed: %', login_name, sqlerrm using errcode = sqlstate;
    end;
    execute format('grant %I to %I', role_name, login_name);
    execute format('grant connect on database %I to %I', current_database(), login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
    execute format('alter role %I in database %I set search_path = %I', login_name, current_database(), schema_name);
  end if;
end
$$;

set quittance.service_schema = 'payments';
set quittance.service_role = 'quittance_payments';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it as the superuser, once per service. Running it
-- again changes only the password. It reads three settings, so that both psql and a program can run this file:
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
begin
  if not exists (select from pg_roles where rolname = role_name) then
    execute format('create role %I', role_name);
  end if;
  -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
  -- password.
  begin
    execute format(
      'alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
      role_name, current_setting('quittance.service_password')
    );
  exception when others then
    raise exception 'role % could not be changed: %', role_name, sqlerrm using errcode = sqlstate;
  end;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to %I', current_database(), role_name);
  revoke all on schema public from public;

  if not exists (select from pg_namespace where nspname = schema_name) then
    execute format('create schema %I authorization %I', schema_name, role_name);
  end if;
  execute format('alter schema %I owner to %I', schema_name, role_name);
  execute format('alter role %I in database %I set search_path = %I', role_name, current_database(), schema_name);

  if login_name is not null then
    if not exists (select from pg_roles where rolname = login_name) then
      execute format('create role %I', login_name);
    end if;
    begin
      execute format(
        'alter role %I login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
        login_name, current_setting('quittance.service_login_password')
      );
    exception when others then
      raise exception 'role % could not be changed: %', login_name, sqlerrm using errcode = sqlstate;
    end;
    execute format('grant %I to %I', role_name, login_name);
    execute format('grant connect on database %I to %I', current_database(), login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
    execute format('alter role %I in database %I set search_path = %I', login_name, current_database(), schema_name);
  end if;
end
$$;

set quittance.service_schema = 'chain';
set quittance.service_role = 'quittance_chain';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it as the superuser, once per service. Running it
-- again changes only the password. It reads three settings, so that both psql and a program can run this file:
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
begin
  if not exists (select from pg_roles where rolname = role_name) then
    execute format('create role %I', role_name);
  end if;
  -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
  -- password.
  begin
    execute format(
      'alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
      role_name, current_setting('quittance.service_password')
    );
  exception when others then
    raise exception 'role % could not be changed: %', role_name, sqlerrm using errcode = sqlstate;
  end;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to %I', current_database(), role_name);
  revoke all on schema public from public;

  if not exists (select from pg_namespace where nspname = schema_name) then
    execute format('create schema %I authorization %I', schema_name, role_name);
  end if;
  execute format('alter schema %I owner to %I', schema_name, role_name);
  execute format('alter role %I in database %I set search_path = %I', role_name, current_database(), schema_name);

  if login_name is not null then
    if not exists (select from pg_roles where rolname = login_name) then
      execute format('create role %I', login_name);
    end if;
    begin
      execute format(
        'alter role %I login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
        login_name, current_setting('quittance.service_login_password')
      );
    exception when others then
      raise exception 'role % could not be changed: %', login_name, sqlerrm using errcode = sqlstate;
    end;
    execute format('grant %I to %I', role_name, login_name);
    execute format('grant connect on database %I to %I', current_database(), login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
    execute format('alter role %I in database %I set search_path = %I', login_name, current_database(), schema_name);
  end if;
end
$$;

set quittance.service_schema = 'webhooks';
set quittance.service_role = 'quittance_webhooks';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it as the superuser, once per service. Running it
-- again changes only the password. It reads three settings, so that both psql and a program can run this file:
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
begin
  if not exists (select from pg_roles where rolname = role_name) then
    execute format('create role %I', role_name);
  end if;
  -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
  -- password.
  begin
    execute format(
      'alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
      role_name, current_setting('quittance.service_password')
    );
  exception when others then
    raise exception 'role % could not be changed: %', role_name, sqlerrm using errcode = sqlstate;
  end;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to %I', current_database(), role_name);
  revoke all on schema public from public;

  if not exists (select from pg_namespace where nspname = schema_name) then
    execute format('create schema %I authorization %I', schema_name, role_name);
  end if;
  execute format('alter schema %I owner to %I', schema_name, role_name);
  execute format('alter role %I in database %I set search_path = %I', role_name, current_database(), schema_name);

  if login_name is not null then
    if not exists (select from pg_roles where rolname = login_name) then
      execute format('create role %I', login_name);
    end if;
    begin
      execute format(
        'alter role %I login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
        login_name, current_setting('quittance.service_login_password')
      );
    exception when others then
      raise exception 'role % could not be changed: %', login_name, sqlerrm using errcode = sqlstate;
    end;
    execute format('grant %I to %I', role_name, login_name);
    execute format('grant connect on database %I to %I', current_database(), login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
    execute format('alter role %I in database %I set search_path = %I', login_name, current_database(), schema_name);
  end if;
end
$$;

set quittance.service_schema = 'quota';
set quittance.service_role = 'quittance_quota';
do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;
-- Creates one service's role and schema in the current database. Run it as the superuser, once per service. Running it
-- again changes only the password. It reads three settings, so that both psql and a program can run this file:
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
begin
  if not exists (select from pg_roles where rolname = role_name) then
    execute format('create role %I', role_name);
  end if;
  -- The error of a failed statement shows the statement, to the client and in the server's log. This one contains the
  -- password.
  begin
    execute format(
      'alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
      role_name, current_setting('quittance.service_password')
    );
  exception when others then
    raise exception 'role % could not be changed: %', role_name, sqlerrm using errcode = sqlstate;
  end;

  -- A service can use only its own schema: not those of other services, not public, and no temporary tables.
  execute format('revoke all on database %I from public', current_database());
  execute format('grant connect on database %I to %I', current_database(), role_name);
  revoke all on schema public from public;

  if not exists (select from pg_namespace where nspname = schema_name) then
    execute format('create schema %I authorization %I', schema_name, role_name);
  end if;
  execute format('alter schema %I owner to %I', schema_name, role_name);
  execute format('alter role %I in database %I set search_path = %I', role_name, current_database(), schema_name);

  if login_name is not null then
    if not exists (select from pg_roles where rolname = login_name) then
      execute format('create role %I', login_name);
    end if;
    begin
      execute format(
        'alter role %I login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
        login_name, current_setting('quittance.service_login_password')
      );
    exception when others then
      raise exception 'role % could not be changed: %', login_name, sqlerrm using errcode = sqlstate;
    end;
    execute format('grant %I to %I', role_name, login_name);
    execute format('grant connect on database %I to %I', current_database(), login_name);
    execute format('alter role %I in database %I set role = %I', login_name, current_database(), role_name);
    execute format('alter role %I in database %I set search_path = %I', login_name, current_database(), schema_name);
  end if;
end
$$;
