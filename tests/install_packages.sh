#!/usr/bin/env bash
# Installs the Debian packages of tests/packages.txt that are missing; those after the line "# Only for ci-full" with --full.
# A program that came another way (npm with its maker's Node.js) counts as installed: Debian's may refuse to stand beside it.
set -euo pipefail
cd "$(dirname "$0")"
last='/^# Only for ci-full/q'
[ "${1:-}" != --full ] || last=''
missing=()
for package in $(sed "$last" packages.txt | grep -v '^#'); do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || command -v "$package" >/dev/null ||
    missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "missing packages; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
case "${missing[*]}" in *:arm64*) dpkg --add-architecture arm64 ;; esac
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
