#!/bin/sh
# Makes the missing stand-ins of third-party images. Runs with an engine, on a Debian with mmdebstrap.
#
#   make.sh NODE_VERSION FOUNDRY_VERSION
#
# NPM_REGISTRY: the registry of npm's packages.
set -eu
cd "$(dirname "$0")"

# The image gets this machine's list of authorities, because a mirror may have its own. Debian's next release has the versions of PostgreSQL
# and RabbitMQ that compose names. A mirror's copy of it may be older than its validity period.
base() {
  docker image inspect "stand-in/base:$1" >/dev/null 2>&1 && return
  echo "Making stand-in/base:$1 …"
  mmdebstrap --quiet --variant=minbase --mode=root --include=ca-certificates --aptopt='Acquire::Check-Valid-Until "false"' \
    --customize-hook='copy-in /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs' "$1" "/tmp/$1.tar" http://deb.debian.org/debian
  docker import "/tmp/$1.tar" "stand-in/base:$1" >/dev/null
  rm "/tmp/$1.tar"
}

base trixie
base forky
for name in node postgres rabbitmq nginx foundry caddy prometheus alertmanager; do
  echo "Making stand-in/$name …"
  docker build --quiet --target "$name" --build-arg "NODE_VERSION=$1" --build-arg "FOUNDRY_VERSION=$2" \
    --build-arg "REGISTRY=${NPM_REGISTRY%/}" -t "stand-in/$name" . >/dev/null
done
# The Dockerfile uses this name; without its digest, which only the original has.
docker tag stand-in/node "node:$1-trixie-slim"
