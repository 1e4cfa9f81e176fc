#!/bin/sh
# Runs a command as a container engine would run it in one of our images, for a test on a machine without an engine: on a read-only root,
# with its own /tmp, as process 1, as user 10001 without capabilities. The network is the machine's, where the test's PostgreSQL and
# RabbitMQ are.
#
#   container.sh PLAN [NAME=value …] command …
#
# Runs as root of new mount and process namespaces; the command gets only the given environment. PLAN is a folder with: app (the laid-out
# tree), node (the program), hosts, and the files
#   links    one a line, "path target" as the Dockerfile creates them
#   binds    one a line, "source path ro|rw"
#   identity the words that make the command user 10001
set -eu
plan=$1
shift

root=$plan/root
mkdir -p "$root"
mount -t tmpfs -o mode=0755 root "$root"
cd "$root"
mkdir app dev etc proc tmp usr
for name in bin sbin lib lib32 lib64; do
  # On most systems these are links into /usr; on others, folders.
  if [ -L "/$name" ]; then
    cp -P "/$name" "$name"
  elif [ -d "/$name" ]; then
    mkdir "$name"
    mount --rbind "/$name" "$name"
    mount -o remount,bind,ro "$name"
  fi
done
mount --rbind /usr usr
mount -t tmpfs -o mode=0755 bin usr/local/bin
touch usr/local/bin/node
mount --bind "$plan/node" usr/local/bin/node
mount -o remount,bind,ro usr/local/bin/node
while read -r path target; do ln -s "$target" ".$path"; done <"$plan/links"
mount -o remount,bind,ro usr/local/bin
mount -o remount,bind,ro usr
cp /etc/ld.so.cache etc/ 2>/dev/null || true
cp "$plan/hosts" etc/hosts
echo 'root:x:0:0:root:/root:/bin/sh' >etc/passwd
for device in null zero full random urandom; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mount -t proc -o nosuid,nodev,noexec proc proc
mount -t tmpfs -o size=64m,mode=1777,noexec,nosuid,nodev tmp tmp
mount --bind "$plan/app" app
mount -o remount,bind,ro app
while read -r source path mode; do
  if [ -d "$source" ]; then mkdir -p ".$path"; else
    mkdir -p ".${path%/*}"
    touch ".$path"
  fi
  mount --bind "$source" ".$path"
  [ "$mode" = rw ] || mount -o remount,bind,ro ".$path"
done <"$plan/binds"
identity=$(cat "$plan/identity")
mount -o remount,bind,ro .

pivot_root . .
umount -l .
cd /
# shellcheck disable=SC2086 # Words, one after the other.
exec $identity env -i -C /app "$@"
