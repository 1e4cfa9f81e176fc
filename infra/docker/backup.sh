#!/bin/sh
# Makes a base backup with Compose: a copy of PostgreSQL's files while it runs, with the WAL that makes the copy consistent
# (docs/backup.md).
#
#   backup.sh FOLDER [KEEP]
#
# Keeps the newest KEEP backups, 14 by default. The name of a failed copy shows that it is incomplete.
set -eu

folder=${1:?usage: backup.sh FOLDER [KEEP]}
keep=${2:-14}
case $keep in '' | 0 | *[!0-9]*) echo "backup.sh: KEEP must be 1 or more, not $keep" >&2 && exit 64 ;; esac
umask 077
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")/../.."

file=$folder/quittance-$(date -u +%Y-%m-%dT%H%M%SZ).tar.gz
trap 'rm -f "$file.unfinished"' EXIT
# Uses the container's own socket, where PostgreSQL accepts its superuser.
docker compose exec -T postgres pg_basebackup --username=postgres --pgdata=- --format=tar --wal-method=fetch \
  --checkpoint=fast --gzip >"$file.unfinished"
# An engine whose connection breaks may still exit with 0.
gzip -t "$file.unfinished"
mv "$file.unfinished" "$file"
# Names sort by time. Removes all but the newest.
for old in $(ls -1 "$folder" | grep '^quittance-.*\.tar\.gz$' | sort -r | tail -n "+$((keep + 1))"); do
  rm -- "$folder/$old"
done
echo "$file"
