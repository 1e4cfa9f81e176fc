#!/bin/sh
# `npm run init` for a server that has only Docker, with the same options. It runs in the image of the one-time jobs, which
# docker-compose.yml needs anyway: a release names it by its digest, a checkout builds it. A file for --endpoints must be in this folder.
set -eu

cd "$(dirname "$0")/../.."
image=$(sed -n 's|^ *image: \(.*/setup@sha256:.*\)|\1|p' docker-compose.yml)
if [ -z "$image" ]; then
  settings=.env.example
  [ ! -f .env ] || settings=.env
  image=quittance/setup:$(sed -n 's/^QUITTANCE_VERSION=//p' "$settings")
  docker image inspect "$image" >/dev/null 2>&1 ||
    docker build -f infra/docker/Dockerfile --build-arg SERVICE=setup -t "$image" .
fi
terminal=
[ ! -t 0 ] || terminal=--tty
# Uses the machine's own network, to see which ports are taken, and the calling user, who then owns the files.
exec docker run --rm --interactive $terminal --network host --user "$(id -u):$(id -g)" \
  --volume "$PWD:/quittance" --workdir /quittance "$image" node /app/main.ts init "$@"
