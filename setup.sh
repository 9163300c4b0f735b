#!/bin/sh
# Makes a bare Debian 12 ready, then builds and runs:
#   sh setup.sh demo      kernels on real arrays: results, largest errors, times
#   sh setup.sh check     the whole test suite
#   sh setup.sh python    the Python package, in build/python
#   sh setup.sh packages  only installs what a build needs
# It installs only what is missing; with nothing missing it never calls apt.
set -eu
cd "$(dirname "$0")"

packages="gcc libc6-dev binutils make re2c bison libsqlite3-dev libxxhash-dev
          libminizip-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler
          python3 python3-numpy python3-dev python3-pip python3-setuptools python3-wheel
          libonnx-testdata"

goal=${1:-}
case $goal in
  demo | check | python | packages) ;;
  *)
    echo "usage: sh setup.sh demo|check|python|packages" >&2
    exit 2
    ;;
esac

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=""
for package in $packages; do
  installed "$package" || missing="$missing $package"
done

if [ -n "$missing" ]; then
  command="apt-get update && apt-get install -y --no-install-recommends$missing"
  if [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive sh -c "$command"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo DEBIAN_FRONTEND=noninteractive sh -c "$command"
  else
    echo "setup.sh: packages are missing; an administrator must run:" >&2
    echo "$command" >&2
    exit 2
  fi
fi

[ "$goal" = packages ] || exec make -j"$(nproc)" "$goal"
