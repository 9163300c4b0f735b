#!/bin/sh
# Makes a bare Debian 12 ready, then builds and runs:
#   sh setup.sh demo      kernels on real arrays: results, largest errors, times
#   sh setup.sh python    the Python package with NumPy, in the environment .venv
#   sh setup.sh check     the whole test suite
#   sh setup.sh torch     PyTorch for `make check-torch`, in an environment in build/
#   sh setup.sh arm       a cross compiler, an emulator and libraries for 64-bit Arm, for its tests
#   sh setup.sh packages  only installs what these need
# It installs only what is missing; with nothing missing it never calls apt.
set -eu
cd "$(dirname "$0")"

packages="gcc libc6-dev binutils make re2c bison libsqlite3-dev libxxhash-dev
          libminizip-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler
          python3 python3-numpy python3-dev python3-pip python3-setuptools python3-wheel
          libonnx-testdata"

goal=${1:-}
case $goal in
  demo | check) ;;
  python | torch | packages) packages="$packages python3-venv" ;;
  arm) packages="$packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static" ;;
  *)
    echo "usage: sh setup.sh demo|python|check|torch|arm|packages" >&2
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

# COMMAND...: all that it prints goes to build/setup.log, whose end is shown if it fails.
logged() {
  mkdir -p build
  if "$@" >build/setup.log 2>&1; then
    return 0
  fi
  status=$?
  [ ! -t 1 ] || printf '\n'
  echo "setup.sh: this failed: $*" >&2
  # The compiler's own lines say nothing.
  grep -v -E '^(gcc|cc|ar|ld|objcopy|mkdir) ' build/setup.log | tail -n 60 >&2
  echo "setup.sh: all of its output is in build/setup.log" >&2
  exit "$status"
}

# TARGET...: builds, with a line that counts compiled files on a terminal.
build() {
  jobs=$(nproc)
  if [ ! -t 1 ]; then
    echo "building: a few minutes the first time (the compiler's output: build/setup.log)"
    logged make -j"$jobs" "$@"
    return
  fi
  count() { grep -c -e ' -c -o ' || :; }
  total=$(make -n "$@" 2>/dev/null | count)
  logged make -j"$jobs" "$@" &
  while kill -0 $! 2>/dev/null; do
    printf '\rbuilding: %s of %s files ' "$(count <build/setup.log 2>/dev/null)" "$total"
    sleep 1
  done
  wait $!
  printf '\r\033[K'
}

# An environment that sees Debian's NumPy, with this build's package.
environment() {
  [ -x .venv/bin/python ] || logged /usr/bin/python3 -m venv --system-site-packages .venv
  logged .venv/bin/python -m pip install --no-build-isolation --no-index --no-deps .
  version=$(.venv/bin/python -c 'import nereid; print(nereid.__version__)')
  echo "Nereid $version is in .venv, with Debian's NumPy.  Next:"
  echo "  . .venv/bin/activate"
  echo "  python examples/python/vector_add.py"
  echo "  pip install torch            # where you use PyTorch"
}

# Libraries that the program has in it, as Debian has them for 64-bit Arm.  apt works in a folder of
# its own: this machine gets no second architecture.
arm_libraries() {
  libraries=$PWD/build/arm-libraries
  [ ! -d "$libraries/usr" ] || return 0
  apt=$libraries/apt
  headers=$(make -s test-python-include)
  mkdir -p "$apt/state" "$apt/lists/partial" "$apt/archives/partial"
  : >"$apt/status"
  cat >"$apt/conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt";
END
  (
    export APT_CONFIG="$apt/conf"
    cd "$apt/archives"
    apt-get update
    apt-get download libsqlite3-dev libxxhash-dev libminizip-dev zlib1g-dev libprotobuf-c-dev
    # Debian's headers of the Python under which tests run have a part for each processor; another
    # Python's do not.
    apt-get download "lib${headers##*/}-dev" || true
    for package in *.deb; do dpkg-deb -x "$package" "$apt/root"; done
  ) || return 1
  mv "$apt/root/usr" "$libraries/usr"
  rm -rf "$apt"
}

case $goal in
  demo)
    build all
    exec make -s demo
    ;;
  python)
    build all python
    environment
    ;;
  check) exec make -j"$(nproc)" check ;;
  torch) exec make -s torch ;;
  arm) logged arm_libraries ;;
esac
