#!/usr/bin/python3
"""Verbs as a script would call them."""
import concurrent.futures
import fcntl
import json
import os
import pathlib
import pty
import resource
import signal
import subprocess
import sys
import unittest

from cli_case import EMITTED_PLAN, IMAGE, INPUT_BYTES, MODEL, OUTPUT_BYTES, TAKT, CliTest, npy, takt


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

    def test_links_and_devices_stay(self):
        self.out.mkdir()
        plan, link, pipe = self.out / "plan.takt", self.out / "link.takt", self.out / "pipe"
        plan.write_bytes(b"x")
        link.symlink_to(plan.name)
        self.succeeds("convert", MODEL, "-o", link)
        self.assertTrue(link.is_symlink() and plan.is_file() and not plan.is_symlink())
        os.mkfifo(pipe)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            read = pool.submit(pipe.read_bytes)
            self.succeeds("convert", MODEL, "-o", pipe)
            self.assertEqual(read.result(), plan.read_bytes())
        self.assertTrue(pipe.is_fifo())

    def test_a_killed_writer_leaves_the_old_file(self):
        plan, other = self.out / "a.takt", self.out / "a.takt.takt-tmp.keep"
        self.succeeds("convert", MODEL, "-o", plan)
        old = plan.read_bytes()
        other.write_bytes(b"x")

        def killed():  # By the system, in the middle of a write: no handler runs.
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        done = subprocess.run([TAKT, "convert", MODEL, "-o", plan, "--numerics", "tflite"], capture_output=True, preexec_fn=killed)
        self.assertEqual(done.returncode, -signal.SIGXFSZ, done.stderr)
        self.assertEqual(plan.read_bytes(), old)
        left = [p for p in self.out.iterdir() if p not in (plan, other)]
        self.assertEqual(len(left), 1)
        self.assertRegex(left[0].name, r"^a\.takt\.takt-tmp\d+$")
        with open(left[0]) as writer:
            fcntl.flock(writer, fcntl.LOCK_EX)  # As a writer that lives.
            self.succeeds("convert", MODEL, "-o", plan)
            self.assertTrue(left[0].exists())
        self.succeeds("convert", MODEL, "-o", self.out / "b.takt")
        self.assertTrue(left[0].exists(), "of another file")
        self.succeeds("convert", MODEL, "-o", plan)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["a.takt", other.name, "b.takt"])


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
        for part in ("steady", "bare_loop", "after_idle", "noisy_neighbour"):
            times = [report[part][key] for key in ("p50_ns", "p99_ns", "p99_9_ns", "max_ns")]
            self.assertEqual(times, sorted(times))
        self.assertEqual(sum(bin["count"] for bin in report["histogram"]), report["steady"]["count"])
        self.assertGreater(report["cold_ns"], 0)
        self.fails(2, "--duration", "bench", self.plan, "--realtime")
        self.fails(1, "a core that this process may run on", "bench", self.plan, "--duration", 0.1, "--cpu", 4000)

    def test_text(self):
        text = self.succeeds("bench", self.plan, "--iterations", 5, "--input", self.image)
        self.assertIn("p99_ns", text)
        self.assertIn("#", text)


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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
