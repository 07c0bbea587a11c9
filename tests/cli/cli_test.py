#!/usr/bin/python3
"""Every verb as a script would call it. cli_test.py TAKT MODEL EMITTED_PLAN

MODEL: samples/fashion/fashion.tflite (one int8 input of 784 bytes, one int8 output of 10).
"""
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

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


class Usage(CliTest):
    def test_help_teaches_by_example(self):
        self.assertIn("Examples:", self.succeeds("--help"))
        for verb in ("convert", "inspect", "run", "bench", "compare", "eval", "baseline", "keygen", "sign", "verify",
                     "trace", "report"):
            text = self.succeeds(verb, "--help")
            self.assertIn(f"  takt {verb} ", text)
            self.assertIn("Exit codes: 0 done; 1 the input is at fault", text)

    def test_version(self):
        self.assertRegex(self.succeeds("--version"), r"^takt \d+\.\d+\.\d+\n$")

    def test_wrong_usage(self):
        self.fails(2, "did you mean 'convert'?", "convertt", MODEL)
        self.fails(2, "there are: convert, inspect, run, bench, compare, eval, baseline, keygen, sign, verify, trace, report",
                   "xyzzy")
        self.fails(2, "subcommand", *[])
        self.fails(2, "model", "convert")
        self.fails(2, "--output", "convert", MODEL)
        self.fails(2, "--frobnicate", "inspect", self.plan, "--frobnicate")
        self.fails(2, "--numerics", "convert", MODEL, "-o", self.out, "--numerics", "bf16")
        self.fails(2, "cortex-m4", "convert", MODEL, "-o", self.out, "--target", "cray")
        self.fails(2, "--iterations", "bench", self.plan, "--iterations", "0")
        self.fails(2, "--golden", "compare", self.plan)
        self.assertFalse(self.out.exists())


class Files(CliTest):
    """A file that is not what a verb wants: which file, why, what to do."""

    def test_inputs_at_fault(self):
        empty, garbage = self.root / "empty", self.root / "garbage"
        empty.write_bytes(b"")
        garbage.write_bytes(bytes(range(256)) * 8)
        cut = self.root / "cut.takt"
        cut.write_bytes(self.plan.read_bytes()[:-200])
        flipped = self.root / "flipped.takt"
        flipped.write_bytes(self.plan.read_bytes()[:-300] + b"?" + self.plan.read_bytes()[-299:])
        verbs = {
            "convert": ["-o", self.root / "never.takt"],
            "inspect": [],
            "run": ["--random", 1, "--output-dir", self.root / "never"],
            "bench": [],
            "compare": [self.plan, "--random", 1],
            "sign": ["--key", self.keys()[0]],
            "verify": ["--key", self.keys()[1]],
        }
        for verb, rest in verbs.items():
            with self.subTest(verb=verb):
                self.fails(1, ["missing.takt", "no such file"], verb, self.root / "missing.takt", *rest)
                self.fails(1, "is a folder", verb, self.root, *rest)
                self.fails(1, "is empty", verb, empty, *rest)
                self.fails(1, "garbage", verb, garbage, *rest)
                if verb != "convert":
                    self.fails(1, "cut.takt", verb, cut, *rest)
                    self.fails(1, "hash", verb, flipped, *rest)
                if verb in ("run", "compare"):
                    self.fails(1, "convert it first: takt convert", verb, MODEL, *rest)
        self.fails(1, "is a plan already", "convert", self.plan, "-o", self.root / "never.takt")
        self.assertFalse((self.root / "never").exists())
        self.assertFalse((self.root / "never.takt").exists())

    def test_outputs_at_fault_leave_nothing(self):
        wall = self.root / "wall"  # A file where a folder is needed: fails for root, too.
        wall.write_bytes(b"x")
        self.fails(1, "wall", "convert", MODEL, "-o", wall / "a.takt")
        self.fails(1, "is a folder", "convert", MODEL, "-o", self.root)
        self.fails(1, "wall", "run", self.plan, "--random", 1, "--output-dir", wall)
        self.fails(1, "wall", "convert", MODEL, "-o", self.out / "a.takt", "--emit-kernels", self.out / "k.h", "--emit-c", wall / "x")
        self.assertEqual([p for p in self.out.rglob("*") if p.is_file()] if self.out.exists() else [], [])


class Convert(CliTest):
    def test_twice_gives_the_same_bytes(self):
        self.succeeds("convert", MODEL, "-o", self.out / "again.takt")
        self.assertEqual((self.out / "again.takt").read_bytes(), self.plan.read_bytes())

    def test_json(self):
        report = self.json("convert", MODEL, "-o", self.out / "a.takt", "--target", "cortex-m4")
        arenas = {arena["kind"]: arena for arena in report["arenas"]}
        self.assertEqual(set(arenas), {"activation", "runtime"})
        for arena in arenas.values():
            self.assertGreater(arena["bytes"], 0)
            self.assertLessEqual(arena["lower_bound"], arena["bytes"])
            self.assertEqual(arena["memory"], "sram")
        self.assertEqual(report["target"], "cortex-m4")
        self.assertEqual(report["plan_bytes"], (self.out / "a.takt").stat().st_size)
        self.assertEqual(arenas["activation"]["lower_bound"], self.json("inspect", self.out / "a.takt")["arenas"][0]["lower_bound"])

    def test_numerics_keep_tensors_and_print_ir(self):
        text = self.succeeds("convert", MODEL, "-o", self.out / "t.takt", "--numerics", "tflite", "--keep-tensors", "--print-ir")
        self.assertIn("after import", text)
        steps = self.json("inspect", self.out / "t.takt")["steps"]
        self.assertTrue(all(step["numerics"] in ("tflite", "any") for step in steps))
        self.assertTrue(all(step["source_nodes"] for step in steps))

    def test_model_that_does_not_convert(self):
        broken = self.root / "broken.tflite"
        data = bytearray(pathlib.Path(MODEL).read_bytes())
        broken.write_bytes(data[: len(data) // 2])
        self.fails(1, ["broken.tflite", "nothing was written"], "convert", broken, "-o", self.out / "b.takt")
        self.assertFalse(self.out.exists())

    def test_emitted_text_runs(self):
        emitted = subprocess.run([EMITTED_PLAN], input=IMAGE, capture_output=True, timeout=60)
        self.assertEqual(emitted.returncode, 0)
        self.succeeds("run", self.plan, "--input", self.image, "--output-dir", self.out)
        self.assertEqual(emitted.stdout, (self.out / "out_0.bin").read_bytes())

    def test_emitted_kernels_are_exactly_those_of_the_steps(self):
        self.succeeds("convert", MODEL, "-o", self.out / "a.takt", "--emit-kernels", self.out / "kernels.h", "--emit-c", self.out / "own.c")
        self.assertTrue((self.out / "own.h").exists())
        listed = [line for line in (self.out / "kernels.h").read_text().splitlines() if "&takt::reference::k" in line]
        self.assertEqual(len(listed), len(set(listed)))
        ops = {step["op"].replace("_", "") for step in self.json("inspect", self.out / "a.takt")["steps"]}
        for op in ops:
            self.assertTrue(any(f"k{op}int8" in line.lower() for line in listed), f"{op}: {listed}")


class MaxStep(CliTest):
    """--max-step-us: shorter steps, the same bytes."""
    NPU = ("--target", "ethos-u55-128")

    def test_jobs_are_split_and_bytes_stay(self):
        outputs, longest, jobs = [], [], []
        for name, bound in (("free", ()), ("bound", ("--max-step-us", 60))):
            plan = self.out / f"{name}.takt"
            report = self.json("convert", MODEL, "-o", plan, *self.NPU, *bound)
            longest.append(report["longest_step_ticks"])
            jobs.append(sum(step["op"] == "submit" for step in report["steps"]))
            self.succeeds("run", plan, "--input", self.image, "--output-dir", self.out / name)
            outputs.append((self.out / name / "out_0.bin").read_bytes())
        self.assertEqual(outputs[0], outputs[1])
        self.assertGreater(jobs[1], jobs[0])
        self.assertLess(longest[1], longest[0])
        self.assertLessEqual(longest[1], 60 * 500)  # The machine has 500 MHz.

    def test_what_stays_longer_is_named(self):
        done = takt("convert", MODEL, "-o", self.out / "a.takt", *self.NPU, "--max-step-us", 5)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--max-step-us allows 2500", done.stderr)

    def test_cpu_targets_have_no_costs(self):
        self.fails(1, ["--max-step-us", "not known of target host"], "convert", MODEL, "-o", self.out / "a.takt", "--max-step-us", 5)
        self.assertFalse(self.out.exists())


class Inspect(CliTest):
    def test_plan_json(self):
        report = self.json("inspect", self.plan)
        arena = report["arenas"][0]
        self.assertEqual((arena["name"], arena["kind"], arena["memory"]), ("activation", "activation", "dram"))
        tensors = {tensor["index"]: tensor for tensor in report["tensors"]}
        live = [tensors[i] for i in arena["peak_tensors"]]
        self.assertTrue(all(t["first_step"] <= arena["peak_step"] <= t["last_step"] for t in live))
        self.assertEqual(sum(-(-t["bytes"] // arena["alignment"]) * arena["alignment"] for t in live), arena["lower_bound"])
        for step in report["steps"]:
            for i in step["inputs"] + step["outputs"]:
                self.assertIn(i, tensors)
        self.assertEqual(report["inputs"][0]["bytes"], INPUT_BYTES)
        self.assertEqual(report["outputs"][0]["bytes"], OUTPUT_BYTES)

    def test_plan_text_fits_a_terminal(self):
        text = self.succeeds("inspect", self.plan)
        start = text.index("address down")
        picture = text[start:].splitlines()
        self.assertIn("peak at step", text)
        self.assertTrue(all(len(line) <= 80 for line in picture[:18]), picture)
        self.assertNotIn("\033", text)

    def test_svg(self):
        self.succeeds("inspect", self.plan, "--svg", self.out / "map.svg")
        import xml.etree.ElementTree
        picture = xml.etree.ElementTree.parse(self.out / "map.svg").getroot()
        tensors = [t for t in self.json("inspect", self.plan)["tensors"] if "arena" in t]
        self.assertEqual(len(picture.findall("{http://www.w3.org/2000/svg}rect")), len(tensors))

    def test_colour_on_terminals_only(self):
        def seen(**extra):
            master, slave = pty.openpty()
            environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
            process = subprocess.Popen([TAKT, "inspect", self.plan], stdout=slave, stderr=slave, env={**environment, **extra})
            os.close(slave)
            text = b""
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:  # The other side is closed.
                    part = b""
                if not part:
                    break
                text += part
            os.close(master)
            self.assertEqual(process.wait(), 0)
            return text

        self.assertIn(b"\033[3", seen())
        self.assertNotIn(b"\033[3", seen(NO_COLOR="1"))


class Run(CliTest):
    def output(self, *arguments):
        self.succeeds("run", self.plan, *arguments, "--output-dir", self.out)
        return (self.out / "out_0.bin").read_bytes()

    def test_raw_and_npy_agree(self):
        expected = self.output("--input", self.image)
        self.assertEqual(len(expected), OUTPUT_BYTES)
        array = self.root / "image.npy"
        array.write_bytes(npy(IMAGE))
        self.assertEqual(self.output("--input", array), expected)
        self.assertEqual(self.output("--input", array, "--port", "reference"), expected)

    def test_repeat_numbers_later_outputs(self):
        self.output("--input", self.image, "--repeat", 3)
        names = sorted(path.name for path in self.out.iterdir())
        self.assertEqual(names, ["out_0.bin", "out_s1_0.bin", "out_s2_0.bin"])
        self.assertEqual(len({path.read_bytes() for path in self.out.iterdir()}), 1)

    def test_json(self):
        report = self.json("run", self.plan, "--input", self.image, "--output-dir", self.out)
        self.assertEqual([pathlib.Path(file).stat().st_size for file in report["files"]], [OUTPUT_BYTES])
        self.assertEqual(report["outputs"][0]["dims"], [1, OUTPUT_BYTES])
        self.assertGreater(report["outputs"][0]["scale"], 0)

    def test_random_is_seeded(self):
        self.assertEqual(self.output("--random", 7), self.output("--random", 7))

    def test_inputs_at_fault(self):
        short = self.root / "short.bin"
        short.write_bytes(IMAGE[:-1])
        run = ("run", self.plan, "--output-dir", self.out)
        self.fails(1, ["short.bin", "783 bytes", "wants 784 bytes", "int8[1,28,28,1]"], *run, "--input", short)
        self.fails(1, ["0 --input given", "wants 784 bytes", "--random"], *run)
        self.fails(1, "2 --input given", *run, "--input", self.image, "--input", self.image)
        self.fails(1, "port 'abacus'", *run, "--input", self.image, "--port", "abacus")
        for name, data, words in (
            ("float.npy", npy(IMAGE, "<f4", (1, 14, 14, 1)), ["'f4'", "i1"]),
            ("fortran.npy", npy(IMAGE, fortran=True), "Fortran"),
            ("cut.npy", npy(IMAGE)[:40], "cut off"),
            ("small.npy", npy(IMAGE[:9], shape=(9,)), "784 bytes"),
        ):
            file = self.root / name
            file.write_bytes(data)
            self.fails(1, words, *run, "--input", file)
        self.assertFalse(self.out.exists())


class Bench(CliTest):
    def test_json(self):
        report = self.json("bench", self.plan, "--warmup", 1, "--iterations", 20)
        times = [report[key] for key in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)
        self.assertEqual(sum(bin["count"] for bin in report["histogram"]), 20)
        self.assertAlmostEqual(sum(step["share"] for step in report["steps"]), 1, places=6)

    def test_jitter(self):
        report = self.json("bench", self.plan, "--duration", 0.2, "--cpu", os.sched_getaffinity(0).pop())
        for part in ("steady", "after_idle", "noisy_neighbour"):
            times = [report[part][key] for key in ("p50_ns", "p99_ns", "p99_9_ns", "max_ns")]
            self.assertEqual(times, sorted(times))
        self.assertEqual(sum(bin["count"] for bin in report["histogram"]), report["steady"]["count"])
        self.assertGreater(report["cold_ns"], 0)
        self.fails(2, "--duration", "bench", self.plan, "--realtime")

    def test_text(self):
        text = self.succeeds("bench", self.plan, "--iterations", 5, "--input", self.image)
        self.assertIn("p99_ns", text)
        self.assertIn("#", text)


class Baseline(CliTest):
    """Latency tests: what passes, what fails, what is said."""
    NPU = ("--target", "ethos-u55-128")

    def baseline(self, *arguments):
        path = self.out / "base.json"
        self.succeeds("baseline", "update", path, MODEL, *self.NPU, "--reason", "first", *arguments)
        return path

    def test_same_passes_and_reports(self):
        base = self.baseline()
        self.succeeds("bench", MODEL, *self.NPU, "--against", base, "--junit", self.out / "r.xml", "--markdown", self.out / "r.md")
        import xml.etree.ElementTree
        suite = xml.etree.ElementTree.parse(self.out / "r.xml").getroot()
        self.assertEqual((suite.get("name"), suite.get("failures")), ("base", "0"))
        self.assertIn("cycles", [case.get("name") for case in suite])
        self.assertIn("### base: same", (self.out / "r.md").read_text())

    def test_another_machine_fails_and_names_steps(self):
        base = self.baseline()
        kept = json.loads(base.read_text())
        done = takt("bench", MODEL, *self.NPU, "--set", "array.width=4", "--against", base, "--junit", self.out / "r.xml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cycles", done.stdout)
        self.assertIn("takt baseline update", done.stderr)
        slower = [step["name"] for step in kept["steps"] if step["name"] in done.stdout]
        self.assertTrue(slower, done.stdout)
        self.assertIn("<failure", (self.out / "r.xml").read_text())

    def test_blessing_keeps_reasons(self):
        base = self.baseline()
        before = json.loads(base.read_text())
        text = self.succeeds("baseline", "update", base, MODEL, *self.NPU, "--set", "array.width=4", "--reason", "half the array")
        after = json.loads(base.read_text())
        self.assertEqual(after["reasons"], before["reasons"] + [f"cycles {before['cycles']} -> {after['cycles']}: half the array"])
        self.assertIn("CHANGED", text)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["base.json"])

    def test_plans_compare_with_plans(self):
        other = self.out / "other.takt"
        self.succeeds("convert", MODEL, "-o", other, "--numerics", "tflite")
        text = self.succeeds("bench", other, "--against", self.plan)
        self.assertRegex(text, "kernel .* fp32_rne -> .* tflite")
        self.assertIn("steps that changed", self.succeeds("bench", MODEL, "--numerics", "tflite", "--against", self.plan))

    def test_wall_time_advises(self):
        base = self.out / "host.json"
        self.succeeds("baseline", "update", base, MODEL, "--wall", "--reason", "first")
        self.assertIn("advisory", self.succeeds("bench", MODEL, "--against", base, "--iterations", 10))

    def test_faults(self):
        base = self.baseline()
        self.fails(2, "--reason", "baseline", "update", base, MODEL)
        self.fails(1, "--reason is empty", "baseline", "update", base, MODEL, "--reason", "")
        self.fails(1, "neither a plan nor a baseline", "bench", MODEL, "--against", self.image)
        self.fails(1, "is a plan", "baseline", "update", self.plan, MODEL, "--reason", "x")
        self.fails(2, "--junit", "bench", MODEL, "--junit", self.out / "r.xml")


class Sign(CliTest):
    def signed(self):
        secret, public = self.keys()
        plan = self.out / "signed.takt"
        self.succeeds("sign", self.plan, "--key", secret, "-o", plan)
        return plan, public

    def test_signed_plans_verify_and_run(self):
        plan, public = self.signed()
        key_id = self.json("verify", plan, "--key", self.keys("other")[1], "--key", public)["key_id"]
        self.assertEqual(len(key_id), 16)
        self.assertIn(key_id, self.succeeds("verify", plan, "--key", public))
        self.succeeds("run", plan, "--random", 1, "--output-dir", self.out)
        before, after = self.plan.read_bytes(), plan.read_bytes()
        self.assertEqual(before[:-72], after[:-72])
        self.assertEqual(before[-72:], bytes(72))

    def test_in_place_and_again_with_another_key(self):
        plan, public = self.signed()
        secret, other = self.keys("other")
        self.succeeds("sign", plan, "--key", secret)
        self.succeeds("verify", plan, "--key", other)
        self.fails(1, ["not trusted here"], "verify", plan, "--key", public)
        self.assertEqual([p.name for p in self.out.iterdir()], ["signed.takt"])

    def test_refused(self):
        plan, public = self.signed()
        self.fails(1, ["is not signed", "takt sign"], "verify", self.plan, "--key", public)
        data = plan.read_bytes()
        for place, words in ((100, "hash"), (len(data) - 1, "was changed after"), (len(data) - 70, "not trusted")):
            changed = bytearray(data)
            changed[place] ^= 1
            plan.write_bytes(changed)
            self.fails(1, ["signed.takt", words], "verify", plan, "--key", public)

    def test_keys_at_fault(self):
        secret, public = self.keys()
        self.fails(1, ["exists", "another name"], "keygen", self.root / "release")
        self.assertEqual(secret.stat().st_mode & 0o777, 0o600)
        self.fails(1, ["release.pub", "takt-ed25519-secret"], "sign", self.plan, "--key", public, "-o", self.out / "a")
        for text in ("", "takt-ed25519-public", "takt-ed25519-public 12\n", public.read_text() * 2, public.read_text()[:-2] + "g\n"):
            broken = self.root / "broken.pub"
            broken.write_text(text)
            self.fails(1, "broken.pub", "verify", self.plan, "--key", broken)
        shared = self.root / "shared.key"
        shared.write_bytes(secret.read_bytes())
        shared.chmod(0o640)
        self.fails(1, ["others may read", "chmod 600"], "sign", self.plan, "--key", shared, "-o", self.out / "a")
        self.assertFalse(self.out.exists())
        self.fails(2, "--key", "verify", self.plan)


class Compare(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = cls.root / "kept.takt"
        takt("convert", MODEL, "-o", cls.kept, "--numerics", "tflite", "--keep-tensors")

    def test_a_plan_equals_itself(self):
        report = self.json("compare", self.kept, self.kept, "--input", self.image)
        self.assertIsNone(report["first_diverging_step"])
        self.assertTrue(all(row["max_diff"] == 0 and row["cosine"] > 0.999999 for row in report["tensors"]))
        self.assertEqual(report["eliminated"] + report["unmatched"], [])

    def golden(self):
        """A golden folder with the graph's input and output."""
        self.succeeds("run", self.kept, "--input", self.image, "--output-dir", self.out)
        report = self.json("inspect", self.kept)
        for binding, data in ((report["inputs"][0], IMAGE), (report["outputs"][0], (self.out / "out_0.bin").read_bytes())):
            source = report["tensors"][binding["tensor"]]["source_tensor"]
            (self.out / f"t{source}.bin").write_bytes(data)
        return self.out / f"t{source}.bin"

    def test_golden(self):
        output = self.golden()
        report = self.json("compare", self.kept, "--golden", self.out)
        self.assertEqual([row["max_diff"] for row in report["tensors"]], [0, 0])
        data = bytearray(output.read_bytes())
        data[3] ^= 1
        output.write_bytes(data)
        self.fails(1, ["first diverging step", "differs by 1"], "compare", self.kept, "--golden", self.out)
        self.succeeds("compare", self.kept, "--golden", self.out, "--tolerance", 1)
        output.write_bytes(data[:-1])
        self.fails(1, "same model", "compare", self.kept, "--golden", self.out)

    def test_eliminated_tensors_are_listed(self):
        self.golden()
        (self.out / "t999.bin").write_bytes(b"x")
        self.assertEqual(self.json("compare", self.kept, "--golden", self.out)["eliminated"], ["t999"])

    def test_faults(self):
        self.fails(1, "--keep-tensors", "compare", self.plan, "--golden", self.root, "--input", self.image)
        self.fails(1, "t<i>.bin", "compare", self.kept, "--golden", self.root, "--input", self.image)
        self.fails(1, "is no folder", "compare", self.kept, "--golden", self.image, "--input", self.image)

    def test_other_numerics_diverge_little(self):
        fast = self.root / "fp32.takt"
        self.succeeds("convert", MODEL, "-o", fast, "--keep-tensors")
        report = json.loads(takt("compare", self.kept, fast, "--input", self.image, "--json", "--tolerance", 30).stdout)
        self.assertGreater(len(report["tensors"]), 3)
        self.assertTrue(all(row["cosine"] > 0.99 for row in report["tensors"]))


class Machines(CliTest):
    """Models on emulated machines: cycles, trace, report."""
    NPU = ("--target", "ethos-u55-128")

    def test_bench_prints_cycles_of_every_step(self):
        bench = self.json("bench", MODEL, *self.NPU)
        self.assertEqual(sum(step["cycles"] for step in bench["steps"]), bench["cycles"])
        self.assertEqual(bench["npu_cycles"] + bench["host_cycles"], bench["cycles"])
        self.assertAlmostEqual(bench["ms"], bench["cycles"] / bench["clock_hz"] * 1e3)
        on_npu = [step for step in bench["steps"] if step["on"] == "npu"]
        for memory in ("sram", "flash"):
            for key in ("read_bytes", "written_bytes"):
                self.assertEqual(sum(step["memories"][memory][key] for step in on_npu),
                                 sum(job["memories"][memory][key] for job in bench["jobs"]))
        self.assertAlmostEqual(sum(step["energy_nj"] for step in on_npu), bench["energy_nj"], places=3)
        text = self.succeeds("bench", MODEL, *self.NPU)
        for word in (f"{bench['cycles']} cycles", "bound by", "util", "nJ", "validated against"):
            self.assertIn(word, text)

    def test_stalls_sum_to_the_total(self):
        for job in self.json("bench", MODEL, *self.NPU)["jobs"]:
            sums = {sum(v for v in pipe.values() if isinstance(v, int)) + sum(pipe["wait"].values())
                    for pipe in job["pipes_ticks"].values()}
            self.assertEqual(len(sums), 1)

    def test_what_if(self):
        slow = self.json("bench", MODEL, *self.NPU, "--set", "memories.flash.bytes_per_cycle=1/4")["cycles"]
        self.assertLess(self.json("bench", MODEL, *self.NPU)["cycles"], slow)

    def test_trace_pairs_every_arrow(self):
        self.succeeds("trace", MODEL, *self.NPU, "-o", self.out)
        events = json.loads(self.out.read_text())["traceEvents"]
        by = lambda phase: [e for e in events if e["ph"] == phase]
        self.assertEqual({e["args"]["name"] for e in by("M")}, {"load", "operand", "mac", "vector", "store", "steps"})
        self.assertEqual({e["id"] for e in by("s")}, {e["id"] for e in by("f")})
        at = {e["id"]: e["ts"] for e in by("s")}
        self.assertTrue(all(e["ts"] >= at[e["id"]] for e in by("f")))
        counters = {}
        for e in by("C"):
            counters.setdefault(e["name"], []).append((e["ts"], e["args"]["value"]))
        self.assertTrue(all(0 <= slots <= 2 for _, slots in counters["feature slots in use"]))
        rates = counters["sram bytes a cycle"]
        moved = sum(rate for _, rate in rates) * (rates[1][0] - rates[0][0])
        sram = [job["memories"]["sram"] for job in self.json("bench", MODEL, *self.NPU)["jobs"]]
        self.assertAlmostEqual(moved, sum(m["read_bytes"] + m["written_bytes"] for m in sram), delta=1)
        for track in range(1, 6):  # a pipe does one thing at a time
            end = 0
            for e in sorted((e for e in by("X") if e["tid"] == track), key=lambda e: (e["ts"], e["dur"])):
                self.assertGreaterEqual(e["ts"], end - 1e-6)
                end = e["ts"] + e["dur"]

    def test_report_is_one_page_without_scripts(self):
        self.succeeds("report", MODEL, *self.NPU, "-o", self.out)
        page = self.out.read_text()
        for word in ("<h2>Timeline</h2>", "<h2>Roofline</h2>", "<h2>Steps</h2>", "<h2>Memory over time</h2>", "ethos-u55-128"):
            self.assertIn(word, page)
        for word in ("<script", "src=", "href=", "url("):
            self.assertNotIn(word, page)
        xml.dom.minidom.parseString(page[page.index("<html"):].replace('<meta charset="utf-8">', ""))

    def test_wrong_targets_and_machines(self):
        self.fails(1, ["cortex-m4", "is no machine", "ethos-u55-128"], "trace", MODEL, "--target", "cortex-m4", "-o", self.out)
        self.fails(1, ["buffers.weight", "48 bytes", "64 at once: 16 are missing"], "bench", MODEL, *self.NPU,
                   "--set", "buffers.weight=96")
        self.fails(1, ["activations need", "sram of ethos-u55-128 has 1000", "bytes are missing", "fashion.tflite:"],
                   "bench", MODEL, *self.NPU, "--set", "memories.sram.bytes=1000")
        done = takt("bench", MODEL, "--target", "ethos-u65-256", "--set", "memories.sram.bytes=1000")
        self.assertEqual(done.returncode, 0)
        self.assertIn("all lie in dram", done.stderr)
        self.fails(1, ["routes.load", "is missing"], "bench", MODEL, "--machine", self.machine_without("routes", "load"))
        self.assertFalse(self.out.exists())

    def machine_without(self, section, key):
        path = pathlib.Path(__file__).parents[2] / "ports/npu_emu/machines/ethos-u55-128.json"
        machine = json.loads(path.read_text())
        del machine[section][key]
        made = self.root / "machine.json"
        made.write_text(json.dumps(machine))
        return made


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
