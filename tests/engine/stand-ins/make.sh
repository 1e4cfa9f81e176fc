#!/bin/sh
# Makes the stand-ins of the images that are not ours, where they are missing. Runs where an engine answers, on a Debian with mmdebstrap.
#
#   make.sh NODE_VERSION FOUNDRY_VERSION
#
# NPM_REGISTRY: where npm's packages come from.
set -eu
cd "$(dirname "$0")"

# The image's list of authorities is this machine's: it may be behind a mirror that has one of its own. Debian's next release has the
# versions of PostgreSQL and RabbitMQ that compose names; what a mirror keeps of it may be older than it is meant to be used.
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
# The Dockerfile names it so; without its digest, which nobody else can have.
docker tag stand-in/node "node:$1-trixie-slim"
