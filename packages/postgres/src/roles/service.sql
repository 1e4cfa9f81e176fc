-- One service's role and schema, in the database this runs in. Run it as the superuser, once per service; running it
-- again changes nothing but the password. It reads three settings, so that psql and a program can run the same file:
--   quittance.service_schema, quittance.service_role, quittance.service_password
-- and two more to give the service a second login while its password is being replaced (docs/operations.md), which acts as the
-- service's role from its first statement on, and so owns nothing itself and may do exactly the same:
--   quittance.service_login, quittance.service_login_password
-- Give the passwords by `set` or set_config(), not in PGOPTIONS: what the server cannot read there it repeats in an error.
do $$
declare
  schema_name constant text := current_setting('quittance.service_schema');
  role_name constant text := current_setting('quittance.service_role');
  login_name constant text := nullif(current_setting('quittance.service_login', true), '');
begin
  if not exists (select from pg_roles where rolname = role_name) then
    execute format('create role %I', role_name);
  end if;
  -- An error in a statement shows the statement, to the client and in the server's log. This one holds the password.
  begin
    execute format(
      'alter role %I login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password %L',
      role_name, current_setting('quittance.service_password')
    );
  exception when others then
    raise exception 'role % could not be changed: %', role_name, sqlerrm using errcode = sqlstate;
  end;

  -- A service reaches its own schema and nothing else: not the other services', not public, not even a temporary table.
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
