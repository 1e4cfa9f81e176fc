#!/bin/sh
# A Debian 13 with Docker and Compose in a directory, for a Linux machine that has no container engine. Runs a command in it and ends with
# it. Needs root and Debian's packages. It installs nothing, and changes no network, mount or process of the machine.
#
#   machine.sh COMMAND …
#
# It has its own network with outbound access through this machine, has the engine's data and the checkout at their paths, and has an
# ~/.npmrc with this machine's registry settings. It is kept in .local/engine (1 GB, a minute the first time).
set -eu

checkout=$(cd "$(dirname "$0")/../.." && pwd -P)
home=$checkout/.local/engine
tree=$home/machine
packages=ca-certificates,cosign,debian-archive-keyring,docker.io,docker-cli,docker-buildx,docker-compose,docker-registry,iproute2,iptables
packages=$packages,libatomic1,libstdc++6,mmdebstrap,procps,slirp4netns

fail() {
  echo "machine.sh: $*" >&2
  exit 69
}

make_tree() {
  work=$(mktemp -d "$home/.new-XXXXXX")
  if ! command -v debootstrap >/dev/null; then
    (cd "$work" && apt-get -o APT::Sandbox::User=root download debootstrap >/dev/null && dpkg-deb -x debootstrap_*.deb tools) ||
      fail 'there is no debootstrap, and it cannot be downloaded'
    export DEBOOTSTRAP_DIR="$work/tools/usr/share/debootstrap" PATH="$work/tools/usr/sbin:$PATH"
  fi
  echo 'Making a Debian with Docker …' >&2
  debootstrap --variant=minbase --include="$packages" trixie "$work/machine" http://deb.debian.org/debian >"$home/debootstrap.log" 2>&1 ||
    fail "debootstrap failed, see $home/debootstrap.log"
  mv "$work/machine" "$tree"
  rm -rf "$work"
}

# For this machine containers are one group of processes, which together would get as much processor time as one process outside.
weigh_containers() {
  groups=/sys/fs/cgroup
  if [ -f $groups/cpu/cpu.shares ]; then
    mkdir -p $groups/cpu/docker && echo 16384 >$groups/cpu/docker/cpu.shares || true
  elif [ -f $groups/cgroup.controllers ]; then
    (mkdir -p $groups/docker && echo 1600 >$groups/docker/cpu.weight) 2>/dev/null || true
  fi
}

# In separate namespaces. With chroot instead of pivot_root, `docker exec` would run in the namespace's root, which is this machine's.
inside() {
  mount --make-rprivate /
  mount --bind "$tree" "$tree"
  mount -t proc proc "$tree/proc"
  mount --rbind /sys "$tree/sys"
  mount --rbind /dev "$tree/dev"
  for directory in run tmp; do mount -t tmpfs tmpfs "$tree/$directory"; done
  for path in "$checkout" "$home/docker:/var/lib/docker"; do
    mkdir -p "$tree/${path#*:}"
    mount --bind "${path%:*}" "$tree/${path#*:}"
  done
  mkdir "$tree/run/old"
  cd "$tree"
  pivot_root . run/old
  umount -l /run/old
  export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  ip link set lo up
  until ip -4 address show tap0 2>/dev/null | grep -q inet; do sleep 0.1; done
  dockerd >/var/log/dockerd.log 2>&1 &
  until docker version >/dev/null 2>&1; do
    kill -0 $! 2>/dev/null || fail "dockerd has ended: $(tail -3 /var/log/dockerd.log)"
    sleep 0.2
  done
  weigh_containers
  cd "$checkout"
  status=0
  "$@" || status=$?
  containers=$(docker ps -q)
  [ -z "$containers" ] || docker kill $containers >/dev/null
  kill $! && wait $! || true
  exit "$status"
}

if [ "${1:-}" = --inside ]; then
  shift
  inside "$@"
fi
[ "$(uname -s)" = Linux ] || fail "$(uname -s) has no namespaces"
[ "$(id -u)" = 0 ] || fail 'only root can shut an engine into namespaces'
unshare --mount --net --pid --fork true || fail 'this machine allows no namespaces'
mkdir -p "$home/docker"
[ -d "$tree" ] || make_tree
cp /etc/resolv.conf "$tree/etc/resolv.conf"
# A machine behind a mirror may have its own authorities and registry.
cp /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"

unshare --mount --net --pid --fork --kill-child sh "$0" --inside "$@" <&0 &
child=$!
trap 'kill -KILL $child 2>/dev/null || true' EXIT INT TERM
until [ "$(readlink /proc/$child/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.1; done
# Outbound access, without access to this machine's own addresses.
unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$1" \
  slirp4netns --configure --mtu=1400 --disable-host-loopback "$2" tap0' sh "$tree" "$child" >"$home/slirp4netns.log" 2>&1 &
trap 'kill -KILL $child $! 2>/dev/null || true' EXIT INT TERM
wait "$child"
