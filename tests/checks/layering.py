#!/usr/bin/python3
"""Fails if a file includes what its layer may not. layering.py ROOT

LAYERS: folder -> prefixes it may include, beside itself. The longest matching folder counts.
"""
import re

import tree

ENGINE = "engine/"
LAYERS = {
    "schema": ["engine/base/data_type.h", "engine/core/op.h", "engine/core/kernel.h"],  # schema_check.cc compares enums
    "engine/base": [],
    "engine/hal": ["engine/base/"],
    "engine/plan": ["engine/base/", "schema/", "engine/core/op.h", "engine/core/kernel.h", "engine/hal/job.h"],  # enums and limits
    "engine/core": ["engine/base/", "engine/plan/", "engine/hal/", "schema/"],
    "engine/ops": ["engine/base/", "engine/plan/", "engine/core/", "schema/"],
    "engine/c": [ENGINE],
    "ports": [ENGINE, "schema/", "ports/kernel_util/"],
    "converter": [ENGINE, "schema/", "ports/reference/", "ports/npu_emu/model/"],
    "converter/base": [ENGINE, "schema/"],
    "converter/ir": ["converter/base/", ENGINE, "schema/"],
    "converter/npu": ["converter/base/", "converter/ir/", "converter/memory/",
                      "converter/backend/step_builder.h", "converter/backend/job_spec.h",  # lowered steps in, jobs out
                      "converter/backend/step_call.h",  # a step's work
                      ENGINE, "schema/", "ports/npu_emu/model/"],
    "converter/cli": ["converter/", "ports/", ENGINE, "schema/"],
    "samples": [ENGINE, "ports/", "samples/network.h"],
    "tests": ["engine/", "ports/", "converter/", "schema/", "tests/"],
}
# Freestanding-friendly standard headers for engine and ports: no heap, streams, strings, threads. immintrin.h is the
# compiler's own header of x86 instructions.
EMBEDDED_STD = set("""algorithm array atomic bit climits cmath concepts cstddef cstdint cstdlib cstring cfloat immintrin.h initializer_list
iterator limits memory new numeric optional span string_view tuple type_traits utility version compare
math.h stdbool.h stddef.h stdint.h string.h""".split())
# Headers of the library that a port is made of.
LIBRARY = {"ports/xnnpack": ["xnnpack.h"]}
GENERATED = re.compile(r"schema/\w+_generated\.h|flatbuffers/")
PUBLIC_DIRS = ("engine/base", "engine/core", "engine/hal", "engine/plan", "engine/c")
# Headers of the engine that are not public: they may see generated code.
INTERNAL = re.compile(r"(_validator|_internal|_view_impl|plan_access|rules|schema_view|step_walk)\w*\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def layer_of(path):
    best = ""
    for layer in LAYERS:
        if (path + "/").startswith(layer + "/") and len(layer) > len(best):
            best = layer
    return best


def violations(path, text):
    layer = layer_of(path)
    folder = path.rsplit("/", 1)[0]
    embedded = path.startswith(("engine/", "ports/")) and not path.startswith(("ports/posix/", "ports/cortex_m/"))
    for bracket, name in INCLUDE.findall(text):
        public = path.endswith(".h") and folder in PUBLIC_DIRS and not INTERNAL.search(path)
        if public and GENERATED.match(name):
            yield f"{path}: public header includes {name}"
        if bracket == "<":
            if embedded and not name.startswith("flatbuffers/") and name not in [*EMBEDDED_STD, *LIBRARY.get(folder, [])]:
                yield f"{path}: <{name}> is not on the list of headers for embedded code"
            continue
        if "/" not in name:
            if path.startswith("samples/") and name in ("kernels.h", "model.h"):
                continue  # Written by takt convert --emit-kernels, --emit-c.
            yield f"{path}: \"{name}\" is not relative to the repository's root"
            continue
        own = "/".join(path.split("/")[:2]) + "/" if layer in ("ports", "samples", "converter") else layer + "/"
        allowed = [own, *LAYERS[layer]]
        if layer == "converter":
            allowed.append("converter/")
        describe = path.startswith("converter/") and re.fullmatch(r"ports/\w+/describe\.h", name)
        if name.startswith(("engine/", "schema/", "ports/", "converter/", "tests/", "samples/")):
            if not describe and not name.startswith(tuple(allowed)):
                yield f"{path}: {layer} may not include {name}"
            if layer == "converter" and name.startswith("converter/cli/"):
                yield f"{path}: {layer} may not include {name}"


def check(root):
    files = list(tree.sources(root, (".h", ".cc", ".c", ".inc")))
    return [violation for path, text in files for violation in violations(path, text)], len(files)


if __name__ == "__main__":
    tree.main(check)
