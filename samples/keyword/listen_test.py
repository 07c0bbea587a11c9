#!/usr/bin/python3
"""`listen` on the committed sample, and on files that it cannot hear. Arguments: LISTEN PLAN SAMPLE."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import wave

import score

LISTEN, PLAN, SAMPLE = sys.argv[1:4]


def listen(*arguments):
    return subprocess.run([LISTEN, *map(str, arguments)], capture_output=True, text=True, timeout=60)


class Listen(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def write(self, name, rate=16000, channels=1, frames=1600):
        path = self.root / name
        with wave.open(str(path), "wb") as file:
            file.setparams((channels, 2, rate, 0, "NONE", ""))
            file.writeframes(bytes(2 * channels * frames))
        return path

    def refused(self, said, *arguments, code=1):
        run = listen(*arguments)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(said, run.stderr)

    def test_words_and_times_of_the_sample(self):
        run = listen(PLAN, SAMPLE)
        self.assertEqual(run.returncode, 0, run.stderr)
        said = [w for w in json.loads(pathlib.Path(SAMPLE).with_suffix(".json").read_text()) if w["label"] != "unknown"]
        heard = score.heard(run.stdout.splitlines())
        self.assertEqual([word for _, word in heard], [w["label"] for w in said])
        for (time, _), word in zip(heard, said):
            self.assertGreater(time, word["end"] / score.RATE)
            self.assertLess(time, word["end"] / score.RATE + 0.4)
        self.assertIn("frames of 20 ms", run.stdout)

    def test_nothing_in_silence_or_an_empty_file(self):
        for frames in (0, 1, 16000):
            run = listen(PLAN, self.write("silence.wav", frames=frames))
            self.assertEqual((run.returncode, score.heard(run.stdout.splitlines())), (0, []), run.stderr)

    def test_outputs_are_those_of_each_frame(self):
        raw = self.root / "out.raw"
        self.assertEqual(listen(PLAN, self.write("a.wav", frames=1601), "--outputs", raw).returncode, 0)
        self.assertEqual(raw.stat().st_size, 6 * 12)

    def test_samples_may_be_floats(self):
        with wave.open(SAMPLE) as file:
            pcm = file.readframes(file.getnframes())
        data = b"".join(struct.pack("<f", v / 32768) for v, in struct.iter_unpack("<h", pcm))
        path = self.root / "float.wav"
        path.write_bytes(struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 3, 1, 16000, 64000, 4, 32,
                                     b"data", len(data)) + data)
        outputs = []
        for wav in (SAMPLE, path):
            raw = self.root / "out.raw"
            self.assertEqual(listen(PLAN, wav, "--outputs", raw).returncode, 0)
            outputs.append(raw.read_bytes())
        self.assertEqual(*outputs)

    def test_errors_say_what_to_do(self):
        self.refused("16000 Hz and one: sox", PLAN, self.write("fast.wav", rate=44100))
        self.refused("has 16000 Hz and 2 channels", PLAN, self.write("stereo.wav", channels=2))
        self.refused("none.wav: ", PLAN, self.root / "none.wav")
        text = self.root / "text.wav"
        text.write_text("words")
        self.refused("text.wav: ", PLAN, text)
        self.refused("can't be mapped", self.root / "none.takt", SAMPLE)
        self.refused("text.wav: ", text, SAMPLE)
        self.refused("can't be written", PLAN, SAMPLE, "--outputs", self.root / "no" / "folder")
        self.refused("--threshold", PLAN, SAMPLE, "--threshold", "2", code=2)

    def test_help_has_examples(self):
        run = listen("--help")
        self.assertEqual(run.returncode, 0)
        self.assertIn("listen keyword.takt samples/keyword/sample.wav", run.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
