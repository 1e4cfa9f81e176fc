#!/bin/sh
# Lays out the content of a service's image: its sources, those of the packages it uses, and their production dependencies. The Dockerfile
# runs this, and so does the test of the images, which starts every service from the result.
#
# Workspace packages stay in their own folders, to which node_modules links. `pnpm deploy` would copy them into node_modules, and Node does
# not strip types below a folder of that name.
#
#   layout.sh SERVICE SOURCE TARGET
#
# SERVICE is a folder of services/, or `notifier`, or `single` (all five services), or `setup` (the one-time jobs of docker-compose.yml). SOURCE is a copy
# of the repository without installed dependencies; this script installs them there. TARGET is replaced.
set -eu

if [ $# -ne 3 ] || [ -z "$1" ]; then
  echo 'usage: layout.sh SERVICE SOURCE TARGET; for the image: docker build --build-arg SERVICE=payments …' >&2
  exit 64
fi
service=$1 source=$2 target=$3
cd "$source"

# Puts the pnpm that package.json pins on the PATH, and runs this script again.
if [ "${LAYOUT_HAS_PNPM:-}" = '' ]; then
  pnpm=$(node -p 'require("./package.json").packageManager.split("+")[0]')
  LAYOUT_HAS_PNPM=yes exec npx --yes --package "$pnpm" -- sh infra/docker/layout.sh "$@"
fi

if [ "$service" = setup ]; then
  home=infra/docker/setup main=infra/docker/setup/main.ts
  # Nothing here starts its own PostgreSQL or chain, whose programs are optional dependencies.
  set -- --no-optional --filter-prod '@quittance/docker-setup...'
elif [ "$service" = single ] || [ "$service" = notifier ] || [ -f "services/$service/src/main.ts" ]; then
  case $service in
    single) home=infra/single ;;
    notifier) home=packages/notifier ;;
    *) home=services/$service ;;
  esac
  main=$home/src/main.ts
  # Every image also has `ops`, the operator's command line.
  set -- --filter-prod "@quittance/$service..." --filter-prod '@quittance/ops...'
else
  echo "layout.sh: there is no service \"$service\"" >&2
  exit 64
fi

# Installs exactly the versions of the lockfile. No dependency of a service needs an install script; the checkout's own Node has one, which
# would download it needlessly. The lockfile was verified where it was made; verifying its thousand packages with the registry again took
# minutes for each image.
install() {
  CI=true pnpm install --frozen-lockfile --trust-lockfile --ignore-scripts "$@"
}

# Prisma's generator is needed only during the build. It needs no engine; naming this Node as the engine prevents a download.
for folder in services/*/prisma; do
  owner=$(basename "$(dirname "$folder")")
  case $service in "$owner" | single) ;; *) continue ;; esac
  install --filter "@quittance/$owner"
  (
    cd "services/$owner"
    export CHECKPOINT_DISABLE=1 PRISMA_HIDE_UPDATE_MESSAGE=1
    PRISMA_SCHEMA_ENGINE_BINARY=$(command -v node) node node_modules/prisma/build/index.js generate
  )
  rm -rf node_modules "services/$owner/node_modules"
done
# Copies files instead of linking them into the store, so that the changes below don't affect the store.
install --prod --package-import-method copy "$@"

rm -rf "$target"
mkdir -p "$target"
# The service, `ops`, and every package that they link to.
projects=$(
  for path in "$home" packages/ops "$home"/node_modules/@quittance/* services/*/node_modules/@quittance/* packages/*/node_modules/@quittance/* \
    infra/*/node_modules/@quittance/*; do
    # A linked package may have no dependencies; `ops` is installed in services only.
    case $path in
      */node_modules/*) [ ! -f "$path/package.json" ] || (cd "$path" && pwd -P) ;;
      *) [ ! -d "$path/node_modules" ] || (cd "$path" && pwd -P) ;;
    esac
  done | sort -u
)
for project in $projects; do
  path=${project#"$(pwd -P)/"}
  mkdir -p "$target/$path"
  for part in package.json src migrations sql generated node_modules; do
    [ ! -e "$path/$part" ] || mv "$path/$part" "$target/$path/"
  done
done
mkdir -p "$target/infra/docker" "$target/node_modules"
mv node_modules/.pnpm "$target/node_modules/"
cp -p infra/networks.json "$target/infra/"
cp -p infra/docker/healthcheck.ts "$target/infra/docker/"
case $service in
  api-gateway | single)
    mkdir -p "$target/docs"
    cp -R -p docs/openapi.yaml docs/webhooks.md docs/guide docs/vectors "$target/docs/"
    # Pages of the guide that are READMEs of packages.
    for readme in $(grep -o 'packages/[a-z/]*/README\.md' docs/guide/README.md); do
      mkdir -p "$target/${readme%/*}"
      cp -p "$readme" "$target/$readme"
    done
    ;;
  console)
    mkdir -p "$target/docs"
    cp -R -p docs/operator.md docs/operator-tasks.md docs/runbooks "$target/docs/"
    ;;
  setup)
    cp -R -p infra/docker/setup/*.ts infra/docker/setup/init "$target/infra/docker/setup/"
    cp -R -p infra/nginx "$target/infra/"
    cp -R -p infra/local/commands infra/local/receiver infra/local/stack "$target/infra/local/"
    mkdir "$target/volume"
    ;;
esac
# One file name for every image, because CMD cannot use a build argument.
ln -s "$main" "$target/main.ts"

cd "$target"
# Files that only compilers and debuggers read, and Prisma's query compilers for other databases and of another size: half of the image.
find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
find . -path '*/@prisma/client/runtime/query_compiler_*' ! -name 'query_compiler_small_bg.postgresql.*' -delete
# Shims that contain paths of the build machine, and pnpm's own notes with the build time.
find . -type d -path '*/node_modules/.bin' -prune -exec rm -rf {} +
rm -f node_modules/.pnpm/lock.yaml
# The same sources give the same files, including their times, on every machine and at any time.
chmod -R u=rwX,go=rX .
# Compose mounts a volume here, which takes over the owner and mode of this folder.
[ ! -d volume ] || chmod 1777 volume
find . -exec touch -h -d @0 {} +
