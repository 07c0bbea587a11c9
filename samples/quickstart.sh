#!/usr/bin/env bash
# Installs what is missing (Debian, as root) and builds; then from a float model to int8: calibrate, convert, see what
# each layer loses, measure the accuracy of both on the test images, classify some of them.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/install_packages.sh
cmake --preset release -DTAKT_BUILD_TESTS=OFF
cmake --build --preset release --target takt classify
out=build/release
takt=$(find "$out" -type f -name takt -perm -u+x | head -n 1)
classify=$(find "$out" -type f -name classify -perm -u+x)
data=/usr/share/datasets/fashion-mnist
if [ ! -f "$data/t10k-images-idx3-ubyte.gz" ]; then
  echo "dataset-fashion-mnist is not installed: the model that is int8 already, one image from the repository"
  "$takt" convert samples/fashion/fashion.tflite -o "$out/fashion.takt"
  exec "$classify" "$out/fashion.takt" samples/fashion/ankle_boot.raw
fi
gunzip -c "$data/t10k-images-idx3-ubyte.gz" > "$out/images.idx"
set -x
"$takt" convert samples/fashion/fashion.onnx -o "$out/float.takt"
"$takt" convert samples/fashion/fashion.onnx -o "$out/int8.takt" --debug --calibrate "$data/train-images-idx3-ubyte.gz" --samples 1000
"$takt" inspect "$out/int8.takt"
"$takt" compare samples/fashion/fashion.onnx "$out/int8.takt" --data "$data/t10k-images-idx3-ubyte.gz" --samples 100 --html "$out/layers.html"
"$takt" eval "$out/float.takt" "$out/int8.takt" --data "$data/t10k-images-idx3-ubyte.gz" --labels "$data/t10k-labels-idx1-ubyte.gz"
"$classify" "$out/int8.takt" "$out/images.idx" 3
