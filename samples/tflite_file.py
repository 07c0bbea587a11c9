"""Writes .tflite files: their JSON form, which flatc makes binary (Debian's flatbuffers-compiler)."""
import json
import pathlib
import subprocess
import tempfile

import numpy as np

SCHEMA = pathlib.Path(__file__).resolve().parents[1] / "schema" / "tflite.fbs"
CODES = dict(ADD=0, AVERAGE_POOL_2D=1, CONV_2D=3, DEPTHWISE_CONV_2D=4, FULLY_CONNECTED=9, RESHAPE=22, SOFTMAX=25, SVDF=27,
             CUSTOM=32, QUANTIZE=114)


def flatc(content, *options):
    """The bytes that flatc makes of `content`."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "content.json"
        source.write_text(json.dumps(content))
        subprocess.run(["flatc", "-b", "--strict-json", "-o", folder, *options, source], check=True)
        return next(p for p in pathlib.Path(folder).iterdir() if p != source).read_bytes()


class File:
    """A model of one graph."""

    def __init__(self):
        self.tensors, self.buffers, self.operators, self.codes, self.index = [], [{}], [], [], {}

    def tensor(self, name, shape, quantization, data=None, axis=0, kind="INT8", variable=False):
        """`quantization`: scale (or one for each index of `axis`) and zero point. With `data`: a constant of its type."""
        buffer = 0
        if data is not None:
            buffer, kind = len(self.buffers), data.dtype.name.upper()
            self.buffers.append({"data": list(np.ascontiguousarray(data).tobytes())})
        entry = {"shape": list(shape), "type": kind, "buffer": buffer, "name": name}
        if variable:
            entry["is_variable"] = True
        if quantization is not None:
            scale, zero = quantization
            scale = np.atleast_1d(scale)
            entry["quantization"] = {"scale": [float(s) for s in scale], "zero_point": [int(zero)] * len(scale)}
            if len(scale) > 1:
                entry["quantization"]["quantized_dimension"] = axis
        self.index[name] = len(self.tensors)
        self.tensors.append(entry)

    def operator(self, code, version, inputs, outputs, kind=None, options=None):
        entry = self._add({"deprecated_builtin_code": CODES[code], "builtin_code": code, "version": version}, inputs, outputs)
        if kind:
            entry.update(builtin_options_type=kind, builtin_options=options)

    def custom(self, code, options, inputs, outputs):
        """An operator that is no builtin: `options` are the numbers of its FlexBuffers map."""
        entry = self._add({"deprecated_builtin_code": CODES["CUSTOM"], "builtin_code": "CUSTOM", "custom_code": code}, inputs, outputs)
        if options:
            entry["custom_options"] = list(flatc(options, "--flexbuffers"))

    def _add(self, key, inputs, outputs):
        if key not in self.codes:
            self.codes.append(key)
        entry = {"opcode_index": self.codes.index(key), "inputs": [self.index[i] for i in inputs],
                 "outputs": [self.index[o] for o in outputs]}
        self.operators.append(entry)
        return entry

    def save(self, path, description, inputs, outputs):
        content = {"version": 3, "operator_codes": self.codes, "description": description, "buffers": self.buffers,
                   "subgraphs": [{"tensors": self.tensors, "inputs": [self.index[i] for i in inputs],
                                  "outputs": [self.index[o] for o in outputs], "operators": self.operators, "name": "main"}]}
        path.write_bytes(flatc(content, SCHEMA))
        print(f"{path}: {path.stat().st_size} bytes")
