#!/usr/bin/env bash
# Installs what is missing (Debian, as root), builds, converts the sample model and classifies real images with it.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/install_packages.sh
cmake --preset release -DTAKT_BUILD_TESTS=OFF
cmake --build --preset release --target takt classify
out=build/release
takt=$(find "$out" -type f -name takt -perm -u+x | head -n 1)
set -x
"$takt" convert samples/fashion/fashion.tflite -o "$out/fashion.takt"
"$takt" inspect "$out/fashion.takt"
{ set +x; } 2>/dev/null
data=/usr/share/datasets/fashion-mnist
if [ -f "$data/t10k-images-idx3-ubyte.gz" ]; then
  gunzip -c "$data/t10k-images-idx3-ubyte.gz" > "$out/images.idx"
  gunzip -c "$data/t10k-labels-idx1-ubyte.gz" > "$out/labels.idx"
  "$(find "$out" -type f -name classify -perm -u+x)" "$out/fashion.takt" "$out/images.idx" "$out/labels.idx" 1000
else
  echo "dataset-fashion-mnist is not installed: one image from the repository"
  "$(find "$out" -type f -name classify -perm -u+x)" "$out/fashion.takt" samples/fashion/ankle_boot.raw
fi
