#!/bin/sh
# Starts like the image of PostgreSQL: never as root. The first time it creates a cluster, whose superuser has the password of
# POSTGRES_PASSWORD, with a server that accepts no connections, so that "ready to accept connections" is logged twice.
set -eu
if [ "$(id -u)" = 0 ]; then
  chown -R 999:999 /var/lib/postgresql
  exec setpriv --reuid=999 --regid=999 --clear-groups sh "$0" "$@"
fi
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?}"
  mkdir -p "$PGDATA"
  chmod 0700 "$PGDATA"
  printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username=postgres --pwfile=/tmp/password --encoding=UTF8 --locale=C.UTF-8 --auth-host=scram-sha-256 --auth-local=trust
  rm /tmp/password
  printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  pg_ctl --wait stop
  printf "listen_addresses = '*'\n" >>"$PGDATA/postgresql.conf"
fi
exec "$@"
