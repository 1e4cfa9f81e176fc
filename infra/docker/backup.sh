#!/bin/sh
# Makes a base backup with Compose: a copy of PostgreSQL's files while it runs, with the WAL that makes the copy consistent
# (docs/backup.md).
#
#   backup.sh FOLDER [KEEP]
#
# Keeps the newest KEEP backups, 14 by default. The name of a failed copy shows that it is incomplete. Records in the database how it ended,
# for the alerts BackupFailed and BackupOld.
set -eu

folder=${1:?usage: backup.sh FOLDER [KEEP]}
keep=${2:-14}
case $keep in '' | 0 | *[!0-9]*) echo "backup.sh: KEEP must be 1 or more, not $keep" >&2 && exit 64 ;; esac
umask 077
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
cd "$(dirname "$0")/../.."

# Sets one of the two times of the row.
record() {
  docker compose exec -T postgres psql --username=postgres --quiet --set=ON_ERROR_STOP=1 quittance \
    --command="update gateway.backup_report set $1 = now()"
}

file=$folder/quittance-$(date -u +%Y-%m-%dT%H%M%SZ).tar.gz
ended() {
  status=$?
  trap - EXIT
  rm -f "$file.unfinished"
  if [ "$status" -ne 0 ]; then
    record failed_at || true
    echo "backup.sh: the backup failed" >&2
  fi
  exit "$status"
}
trap ended EXIT
trap 'exit 1' HUP INT TERM

mkdir -p "$folder"
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
record succeeded_at
echo "$file"
