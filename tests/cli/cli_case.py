"""What the tests of the CLI share. Arguments of every one: TAKT MODEL EMITTED_PLAN.

MODEL: samples/fashion/fashion.tflite (one int8 input of 784 bytes, one int8 output of 10).
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

TAKT, MODEL, EMITTED_PLAN = sys.argv[1:4]
INPUT_BYTES, OUTPUT_BYTES = 784, 10
IMAGE = bytes((7 * i * i) % 256 for i in range(INPUT_BYTES))


def takt(*arguments, env=None):
    return subprocess.run([TAKT, *map(str, arguments)], capture_output=True, text=True, env=env, timeout=120)


def npy(data, descr="|i1", shape=(1, 28, 28, 1), fortran=False):
    header = str({"descr": descr, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


class CliTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.plan = cls.root / "fashion.takt"
        cls.image = cls.root / "image.bin"
        cls.image.write_bytes(IMAGE)
        made = takt("convert", MODEL, "-o", cls.plan)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def setUp(self):
        self.out = self.root / self.id().rsplit(".", 1)[-1]

    def keys(self, name="release"):
        """A pair of keys: secret, public."""
        if not (self.root / f"{name}.key").exists():
            self.succeeds("keygen", self.root / name)
        return self.root / f"{name}.key", self.root / f"{name}.pub"

    def succeeds(self, *arguments):
        done = takt(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.succeeds(*arguments, "--json"))

    def fails(self, code, words, *arguments):
        """Exit code, and all `words` on stderr."""
        done = takt(*arguments)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, done.stderr)
