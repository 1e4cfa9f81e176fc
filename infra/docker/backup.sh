#!/bin/sh
# A copy of PostgreSQL's files while it runs, with the WAL that makes them whole (a base backup, docs/backup.md), by Compose.
#
#   backup.sh FOLDER [KEEP]
#
# Keeps the newest KEEP of them, 14 unless given. A copy that failed has no name by which it could be mistaken for one.
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
# Through the container's own socket, where PostgreSQL lets its superuser in.
docker compose exec -T postgres pg_basebackup --username=postgres --pgdata=- --format=tar --wal-method=fetch \
  --checkpoint=fast --gzip >"$file.unfinished"
# An engine that is cut off may still end with 0.
gzip -t "$file.unfinished"
mv "$file.unfinished" "$file"
# By name, which is by time; all but the newest.
for old in $(ls -1 "$folder" | grep '^quittance-.*\.tar\.gz$' | sort -r | tail -n "+$((keep + 1))"); do
  rm -- "$folder/$old"
done
echo "$file"
