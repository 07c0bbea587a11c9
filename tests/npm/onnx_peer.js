// Runs an ONNX model in ONNX Runtime: onnx_peer.js MODULES MODEL < BINDINGS
// MODULES is the folder that holds the package onnxruntime-node. BINDINGS is JSON {inputs, constants, outputs}: lists of
// {name, type, dims, file}, whose files hold raw little-endian bytes, and {name, value} of int64 scalars.
'use strict';
const fs = require('fs');
const path = require('path');

const ARRAYS = {
  float32: Float32Array,
  int64: BigInt64Array,
  int32: Int32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  bool: Uint8Array
};

async function main([modules, model]) {
  const ort = require(path.resolve(modules, 'onnxruntime-node'));
  const {inputs, constants, outputs} = JSON.parse(fs.readFileSync(0));
  const session = await ort.InferenceSession.create(model, {logSeverityLevel: 3, intraOpNumThreads: 1});
  const feeds = {};
  for (const {name, type, dims, file} of inputs) {
    const bytes = fs.readFileSync(file);
    const data = new ARRAYS[type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    feeds[name] = new ort.Tensor(type, data, dims);
  }
  for (const {name, value} of constants) {
    feeds[name] = new ort.Tensor('int64', BigInt64Array.of(BigInt(value)), []);
  }
  const results = await session.run(feeds);
  for (const {name, file} of outputs) {
    const {data} = results[name];
    fs.writeFileSync(file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.message);
  process.exit(1);
});
