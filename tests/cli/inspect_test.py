#!/usr/bin/python3
"""`takt inspect` of models: every operator, whether it converts, and why not."""
import pathlib
import unittest

from cli_case import MODEL, CliTest


class InspectModel(CliTest):
    def test_model(self):
        report = self.json("inspect", MODEL)
        self.assertTrue(report["converts"])
        self.assertGreater(len(report["ops"]), 3)
        self.assertTrue(all(op["converts"] and op["becomes"] and op["outputs"] for op in report["ops"]))
        self.assertIn("yes", self.succeeds("inspect", MODEL))
        cut = self.root / "cut.tflite"
        cut.write_bytes(pathlib.Path(MODEL).read_bytes()[:5000])
        self.fails(1, ["cut.tflite", "can't be imported"], "inspect", cut)

    def test_each_operator_of_a_model_that_does_not_convert_is_listed(self):
        onnx = pathlib.Path(MODEL).with_suffix(".onnx")
        whole = self.json("inspect", onnx)
        self.assertTrue(whole["converts"])
        broken = self.root / "broken.onnx"
        broken.write_bytes(onnx.read_bytes().replace(b"Relu", b"Xelu"))
        report = self.json("inspect", broken)
        self.assertFalse(report["converts"])
        self.assertEqual(len(report["ops"]), len(whole["ops"]))
        refused = [op for op in report["ops"] if not op["converts"]]
        self.assertIn("Xelu", [op["name"] for op in refused])
        self.assertTrue(all(op["messages"] for op in refused))
        self.assertIn("NO   Xelu", self.succeeds("inspect", broken))


if __name__ == "__main__":
    unittest.main(argv=["inspect_test"])
