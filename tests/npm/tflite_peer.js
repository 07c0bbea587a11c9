// Runs a TFLite model in tfjs-tflite's wasm: tflite_peer.js FACTORY.js MODEL INPUT.. -- OUTPUT..
// INPUT and OUTPUT are files of raw little-endian bytes, one for each tensor in the model's order.
'use strict';
const fs = require('fs');
const path = require('path');

async function main([factory, model, ...files]) {
  const split = files.indexOf('--');
  const inputs = files.slice(0, split), outputs = files.slice(split + 1);
  const module = await require(path.resolve(factory))({wasmBinary: fs.readFileSync(factory.replace(/js$/, 'wasm'))});
  const bytes = fs.readFileSync(model);
  const at = module._malloc(bytes.length);
  module.HEAPU8.set(bytes, at);
  const created = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(
      at, bytes.length, {numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 1});
  if (!created.ok()) throw new Error(created.errorMessage());
  const runner = created.value();
  // A tensor's data() is a view of the module's memory, of its own element type.
  const tensors = list => Array.from({length: list.size()}, (_, i) => list.get(i));
  const raw = tensor => {
    const data = tensor.data();
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  };
  tensors(runner.GetInputs()).forEach((tensor, i) => raw(tensor).set(fs.readFileSync(inputs[i])));
  if (runner.Infer() === false) throw new Error('the model failed');
  tensors(runner.GetOutputs()).forEach((tensor, i) => fs.writeFileSync(outputs[i], raw(tensor)));
}

main(process.argv.slice(2)).catch(error => {
  console.error(error.message);
  process.exit(1);
});
