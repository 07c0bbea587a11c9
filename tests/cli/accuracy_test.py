#!/usr/bin/python3
"""`takt eval` and calibration: every form of samples gives the same answers."""
import gzip
import json
import pathlib
import random
import struct
import sys
import unittest
import zipfile

from cli_case import MODEL, CliTest, npy, takt

FLOAT_MODEL = pathlib.Path(MODEL).with_suffix(".onnx")
COUNT, PIXELS = 24, 784


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def idx(data, *dims):
    return bytes((0, 0, 8, len(dims))) + struct.pack(f">{len(dims)}I", *dims) + data


def wav(values, channels=1):
    """float32, 16 kHz."""
    data = floats(values)
    form = struct.pack("<HHIIHH", 3, channels, 16000, 64000 * channels, 4 * channels, 32)
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(data)) + data


class Accuracy(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        seeded = random.Random(1)
        # Rectangles of one grey: unlike noise, they fall into several classes.
        cls.images = []
        for _ in range(COUNT):
            left, top, grey = seeded.randrange(4, 14), seeded.randrange(4, 14), seeded.randrange(64, 256)
            cls.images.append(bytes(grey if left <= x < 28 - left // 2 and top <= y < 28 - top // 2 else 0
                                    for y in range(28) for x in range(28)))
        cls.float_plan = cls.root / "float.takt"
        cls.idx = cls.root / "images.idx"
        cls.idx.write_bytes(idx(b"".join(cls.images), COUNT, 28, 28))

    def setUp(self):
        super().setUp()
        if not self.float_plan.exists():
            self.succeeds("convert", FLOAT_MODEL, "-o", self.float_plan)
            Accuracy.labels = [self.predict(image) for image in self.images]
        self.csv = self.root / "labels.csv"
        self.csv.write_text("file,label\n" + "".join(f"{i}.pgm,{label}\n" for i, label in enumerate(self.labels)))

    def predict(self, image):
        """What `takt run` gives for one image, the samples' independent peer."""
        file, out = self.root / "one.bin", self.root / "one"
        file.write_bytes(floats([v / 255 for v in image]))
        self.succeeds("run", self.float_plan, "--input", file, "--output-dir", out)
        scores = struct.unpack("<10f", (out / "out_0.bin").read_bytes())
        return scores.index(max(scores))

    def confusion(self, *arguments):
        return self.json("eval", self.float_plan, *arguments)["plans"][0]["confusion"]

    def expected(self):
        return [[self.labels.count(i) if i == k else 0 for k in range(10)] for i in range(10)]

    def write(self, name, files):
        for path, data in files.items():
            (self.root / name / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name / path).write_bytes(data)
        return self.root / name

    def test_samples_fall_into_several_classes(self):
        self.assertGreater(len(set(self.labels)), 2)

    def test_every_form_of_samples(self):
        pixels = b"".join(self.images)
        values = floats([v / 255 for v in pixels])
        label_file = self.root / "labels.idx"
        label_file.write_bytes(idx(bytes(self.labels), COUNT))
        forms = {"images.npy": npy(pixels, "|u1", (COUNT, 28, 28)), "values.npy": npy(values, "<f4", (COUNT, 1, 28, 28)),
                 "images.idx.gz": gzip.compress(self.idx.read_bytes())}
        paths = [self.idx, *(self.write("forms", forms) / name for name in forms)]
        paths.append(self.write("raw", {f"{i:02}.raw": floats([v / 255 for v in image]) for i, image in enumerate(self.images)}))
        paths.append(self.write("pgm", {f"{i:02}.pgm": b"P5 28 28 255\n" + image for i, image in enumerate(self.images)}))
        # Silence stands for the black pixels at the end.
        paths.append(self.write("wav", {f"{i:02}.wav": wav([v / 255 for v in image.rstrip(b"\0")]) for i, image in enumerate(self.images)}))
        for path in paths:
            for labels in (label_file, self.csv):
                with self.subTest(path=path.name, labels=labels.name):
                    self.assertEqual(self.confusion("--data", path, "--labels", labels), self.expected())

    def test_data_with_labels_of_its_own(self):
        archive = self.root / "test.npz"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("x.npy", npy(b"".join(self.images), "|u1", (COUNT, 28, 28)))
            file.writestr("y.npy", npy(struct.pack(f"<{COUNT}q", *self.labels), "<i8", (COUNT,)))
        self.assertEqual(self.confusion("--data", archive), self.expected())
        # The folders' names sort as the classes do; a class without pictures has an empty folder.
        classes = self.write("classes", {f"{label}/{i:02}.pgm": b"P5 28 28 255\n" + image
                                          for i, (label, image) in enumerate(zip(self.labels, self.images))})
        for label in range(10):
            (classes / str(label)).mkdir(exist_ok=True)
        self.assertEqual(self.confusion("--data", classes), self.expected())

    def test_normalization(self):
        values = self.root / "normalized.npy"
        values.write_bytes(npy(floats([(v / 255 - 0.25) / 0.5 for v in b"".join(self.images)]), "<f4", (COUNT, 784)))
        other = self.confusion("--data", values, "--labels", self.csv)
        self.assertNotEqual(other, self.expected())
        self.assertEqual(self.confusion("--data", self.idx, "--labels", self.csv, "--mean", 0.25, "--std", 0.5), other)

    def test_counts(self):
        wrong = self.root / "wrong.txt"
        wrong.write_text("".join(f"{label}\n" for label in [(self.labels[0] + 1) % 10, *self.labels[1:]]))
        report = self.json("eval", self.float_plan, self.plan, "--data", self.idx, "--labels", wrong, "--top", 10)
        self.assertEqual((report["samples"], report["plans"][0]["top_1"], report["plans"][0]["top_k"]), (COUNT, COUNT - 1, COUNT))
        self.assertEqual(report["plans"][0]["as_first"], COUNT)
        self.assertGreater(report["plans"][1]["as_first"], COUNT * 3 // 4)  # int8 input, channels last
        first = self.json("eval", self.float_plan, "--data", self.idx, "--labels", wrong, "--samples", 5)
        self.assertEqual((first["samples"], first["plans"][0]["top_1"]), (5, 4))
        text = self.succeeds("eval", self.float_plan, "--data", self.idx, "--labels", self.csv)
        self.assertIn("100.00 %", text)
        self.assertIn("label (row) and prediction (column)", text)

    def test_calibration_by_pixels_and_by_values(self):
        values = self.root / "values.npy"
        values.write_bytes(npy(floats([v / 255 for v in b"".join(self.images)]), "<f4", (COUNT, 784)))
        plans = [self.root / "by_pixels.takt", self.root / "by_values.takt"]
        for plan, data in zip(plans, (self.idx, values)):
            self.succeeds("convert", FLOAT_MODEL, "-o", plan, "--calibrate", data, "--samples", 16)
        self.assertEqual(*(plan.read_bytes() for plan in plans))

    def quantized(self, name, *options):
        plan = self.root / f"{name}.takt"
        if not plan.exists():
            self.succeeds("convert", FLOAT_MODEL, "-o", plan, "--debug", "--calibrate", self.idx, *options)
        return plan

    def test_layers_against_the_float_model(self):
        page = self.out / "report.html"
        plan = self.quantized("int8")
        report = self.json("compare", FLOAT_MODEL, plan, "--data", self.idx, "--html", page)
        self.assertEqual((report["samples"], report["unmatched"], report["first_bad_step"]), (COUNT, [], None))
        layers = report["layers"]
        self.assertEqual([layer["step"] for layer in layers], sorted(layer["step"] for layer in layers))
        for op in ("conv2d", "depthwise_conv2d", "conv2d_add", "mean", "fully_connected", "softmax"):
            self.assertTrue(any(layer["name"].startswith(op + " ") for layer in layers), op)
        self.assertTrue(all(layer["own_sqnr_db"] > 25 and layer["cosine"] > 0.99 for layer in layers))
        ranked = sorted(layers, key=lambda layer: layer["damage_rank"])
        self.assertEqual(ranked, sorted(ranked, key=lambda layer: layer["own_sqnr_db"]))
        text = page.read_text()
        self.assertEqual(text.count("<rect"), 2 * len(layers))
        self.assertNotIn("http://", text.replace("http://www.w3.org/2000/svg", ""))
        # Finer types: every layer that computes is better.
        wide = self.json("compare", FLOAT_MODEL, self.quantized("wide", "--quantize", "int16x8"), "--data", self.idx)["layers"]
        self.assertTrue(all(layer["type"] == "int16" for layer in wide))
        self.assertGreater(min(layer["sqnr_db"] for layer in wide), min(layer["sqnr_db"] for layer in layers) + 3)

    def test_the_first_bad_layer(self):
        plan = self.quantized("int8")
        report = json.loads(takt("compare", FLOAT_MODEL, plan, "--data", self.idx, "--json").stdout)
        least = min(layer["sqnr_db"] for layer in report["layers"])
        first = next(layer for layer in report["layers"] if layer["sqnr_db"] == least)
        self.fails(1, [f"first bad layer: step {first['step']}", "--min-sqnr"], "compare", FLOAT_MODEL, plan, "--data", self.idx,
                   "--min-sqnr", least + 0.001)
        self.succeeds("compare", FLOAT_MODEL, plan, "--data", self.idx, "--min-sqnr", least - 0.001)

    def test_layers_at_fault(self):
        bare = self.root / "bare.takt"
        self.succeeds("convert", FLOAT_MODEL, "-o", bare)
        self.fails(1, "--debug", "compare", FLOAT_MODEL, bare, "--data", self.idx)
        other = self.root / "other.takt"
        self.succeeds("convert", MODEL, "-o", other, "--debug")
        self.fails(1, "was not made from", "compare", FLOAT_MODEL, other, "--data", self.idx)
        self.fails(2, "--data", "compare", FLOAT_MODEL, bare, "--html", self.out / "never.html")
        self.assertFalse((self.out / "never.html").exists())

    def test_mixed_precision(self):
        plan = self.root / "mixed.takt"
        report = self.json("convert", FLOAT_MODEL, "-o", plan, "--calibrate", self.idx, "--max-drop", "45dB")
        damage = report["damage"]
        self.assertEqual(damage, sorted(damage, key=lambda layer: layer["output_sqnr_db"]))
        moved = [layer["precision"] != "int8" for layer in damage]
        self.assertTrue(moved[0])
        self.assertEqual(moved, sorted(moved, reverse=True))
        self.assertTrue(any("finer than asked for" in note["message"] for note in report["diagnostics"]))
        loose = self.json("convert", FLOAT_MODEL, "-o", plan, "--calibrate", self.idx, "--max-drop", "5dB")
        self.assertNotIn("damage", loose)
        self.fails(1, "--max-drop", "convert", FLOAT_MODEL, "-o", self.root / "never.takt", "--calibrate", self.idx, "--max-drop", "few")

    def test_calibration_at_fault(self):
        never = self.root / "never.takt"
        files = self.write("faulty", {"nan.npy": npy(floats([float("nan")] * PIXELS), "<f4", (1, PIXELS)),
                                       "empty.npy": npy(b"", "<f4", (0, PIXELS)),
                                       "shape.npy": npy(floats([0] * 100), "<f4", (1, 100))})
        (self.root / "nothing").mkdir(exist_ok=True)
        for data, words in {files / "nan.npy": "NaN", files / "empty.npy": "whole samples", files / "shape.npy": "whole samples",
                            self.root / "nothing": "holds no sample", self.root / "absent.npy": "no such file"}.items():
            with self.subTest(data=data.name):
                self.fails(1, words, "convert", FLOAT_MODEL, "-o", never, "--calibrate", data)
                self.assertFalse(never.exists())

    def test_data_at_fault(self):
        good = self.idx.read_bytes()
        packed = gzip.compress(good)
        named = self.root / "named.npz"
        with zipfile.ZipFile(named, "w") as file:
            file.writestr("other.npy", npy(b"".join(self.images), "|u1", (COUNT, 28, 28)))
        bomb = bytearray(named.read_bytes())  # A member of 224 bytes that says it has 2 GiB.
        struct.pack_into("<II", bomb, bomb.index(b"PK\1\2") + 20, 224, 2**31)
        wide = b"P5 65535 65535 255\n"
        files = self.write("bad", {"bomb.npz": bytes(bomb), "wide.pgm": wide, "deep.pgm": b"P5 1 1 65535\n00", "short.pgm": b"P5 6553 655 255\n", "flat.pgm": b"P5 3 0 255\n", "cut.idx": good[:-1], "cut.gz": packed[:-20], "bytes.raw": b"abc", "bad.png": b"\x89PNG", "top.bmp": struct.pack("<2s12xIiiHHI20x", b"BM", 40, 3, -2500000, 1, 24, 0), "cut.png": b"\x89PNG\r\n\x1a\n\x4e\0\0\0IDAT\0\0\0\0", "bad.wav": b"RIFF", "stereo.wav": wav([0] * 20, 2), "long.wav": wav([0] * 785), "silent.wav": wav([]),
                                    "damaged.npz": b"PK\3\4" + bytes(50), "odd.npy": npy(bytes(785), "|u1", (785,)),
                                    "shape.npy": npy(bytes(784), "|u1", (2, 784)), "labels.txt": b"1\nseven\n",
                                    "dates.npy": npy(bytes(784 * 8), "<M8", (784,))})
        for name, words in {"cut.idx": "cut off", "cut.gz": "cut off", "bytes.raw": "float32", "bad.png": "picture", "cut.png": "cut off", "top.bmp": "cannot hold", "bad.wav": "WAV file", "stereo.wav": "2 channels", "long.wav": "785 values", "silent.wav": "0 values",
                            "bomb.npz": "archive's bytes can hold", "wide.pgm": "more than 64 million", "deep.pgm": "255 levels", "short.pgm": "cannot hold", "flat.pgm": "no pixels", "damaged.npz": "zip archive", "odd.npy": "whole samples", "shape.npy": "2x784",
                            "dates.npy": "M8", "none.idx": "no such file"}.items():
            with self.subTest(name=name):
                self.fails(1, [name, words], "eval", self.float_plan, "--data", files / name, "--labels", self.csv, "--samples", 1)
        self.fails(1, "no array called", "eval", self.float_plan, "--data", named, "--labels", self.csv)
        self.fails(1, "line 2", "eval", self.float_plan, "--data", self.idx, "--labels", files / "labels.txt")
        few, high = self.root / "few.txt", self.root / "high.txt"
        few.write_text("1\n2\n")
        high.write_text("10\n" * COUNT)
        self.fails(1, ["2 labels for 24 samples"], "eval", self.float_plan, "--data", self.idx, "--labels", few)
        self.fails(1, ["label 10", "10 classes"], "eval", self.float_plan, "--data", self.idx, "--labels", high)
        self.fails(1, "--labels", "eval", self.float_plan, "--data", self.idx)
        self.fails(1, "3 figures", "eval", self.float_plan, "--data", self.idx, "--labels", self.csv, "--mean", "1,2,3")
        self.fails(2, "--data", "eval", self.float_plan)
        self.fails(2, "--std", "eval", self.float_plan, "--data", self.idx, "--std", "0")
        mixed = self.write("mixed", {"a/0.pgm": b"P5 28 28 255\n" + self.images[0], "1.raw": floats([0] * PIXELS)})
        self.fails(1, "beside folders", "eval", self.float_plan, "--data", mixed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
