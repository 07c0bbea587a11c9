#!/usr/bin/python3
"""The bound of a step, costs of kernels, and the figures that latency tests keep."""
import json
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

from cli_case import MODEL, CliTest, takt


class MaxStep(CliTest):
    """--max-step-us: shorter steps, the same bytes."""
    NPU = ("--target", "ethos-u55-128")

    def test_jobs_are_split_and_bytes_stay(self):
        outputs, longest, jobs = [], [], []
        for name, bound in (("free", ()), ("between layers", ("--max-step-us", 60)), ("in layers", ("--max-step-us", 20))):
            plan = self.out / f"{name}.takt"
            report = self.json("convert", MODEL, "-o", plan, *self.NPU, *bound)
            longest.append(report["longest_step_ticks"])
            jobs.append(sum(step["op"] == "submit" for step in report["steps"]))
            self.succeeds("run", plan, "--input", self.image, "--output-dir", self.out / name)
            outputs.append((self.out / name / "out_0.bin").read_bytes())
        self.assertEqual(outputs, [outputs[0]] * 3)
        self.assertLess(jobs[0], jobs[1])
        self.assertGreater(jobs[2], 8)  # The model's operators.
        self.assertGreater(longest[0], longest[1])
        self.assertLessEqual(longest[1], 60 * 500)  # The machine has 500 MHz.
        self.assertLessEqual(longest[2], 20 * 500)

    def test_what_stays_longer_is_one_error_a_step(self):
        done = takt("convert", MODEL, *self.NPU, "-o", self.out, "--max-step-us", 1)
        self.assertEqual(done.returncode, 1)
        errors = [line for line in done.stderr.splitlines() if "--max-step-us allows" in line]
        self.assertEqual(len(errors), len({line.split(": error")[0] for line in errors}))
        self.assertRegex(done.stderr, r"takes \d+ cycles in the longest of \d+ jobs, and --max-step-us allows 500; "
                                      "its tiles are as short as they get")
        self.assertFalse(self.out.exists())

    def test_more_jobs_than_a_device_keeps(self):
        self.fails(1, ["jobs, a device keeps 1024", "allow longer steps"], "convert", MODEL, "-o", self.out / "a.takt",
                   "--target", "ethos-u55-32", "--set", "buffers.output=64", "--set", "buffers.accumulator=256", "--max-step-us", 1)
        self.assertFalse((self.out / "a.takt").exists())

    def test_cpu_targets_have_no_costs(self):
        self.fails(1, ["--max-step-us", "not known of target host", "--write-costs"], "convert", MODEL, "-o", self.out / "a.takt",
                   "--max-step-us", 5)
        self.assertFalse(self.out.exists())


class Costs(CliTest):
    """bench --write-costs, convert --costs."""

    def calibrate(self, *arguments):
        path = self.root / "host.json"
        self.succeeds("bench", MODEL, "--write-costs", path, "--iterations", 5, *arguments)
        return path

    def test_a_plan_has_the_costs_that_were_measured(self):
        costs = json.loads(self.calibrate().read_text())
        self.assertEqual((costs["target"], costs["clock_hz"]), ("host", 10**9))
        self.assertTrue(all(0 < kernel["tightness"] <= 1 for kernel in costs["kernels"].values()))
        report = self.json("convert", MODEL, "-o", self.out / "a.takt", "--costs", self.root / "host.json")
        steps = self.json("bench", self.plan, "--iterations", 1)["steps"]
        self.assertLess(len(report["steps"]), sum(k["calibrated_steps"] for k in costs["kernels"].values()), "parts count")
        self.assertEqual(len(report["steps"]), len(steps))
        self.assertEqual(report["longest_step_ticks"], max(step["cost_ticks"] for step in report["steps"]))

    def test_several_models(self):
        path = self.root / "both.json"
        self.succeeds("bench", MODEL, self.plan, "--write-costs", path, "--iterations", 3)
        both = json.loads(path.read_text())["kernels"]
        one = json.loads(self.calibrate().read_text())["kernels"]
        self.assertEqual(both.keys(), one.keys())
        self.assertGreater(both["softmax of int8 and uint32 to int8, fp32_rne"]["calibrated_steps"], 1)
        self.fails(1, "only with --write-costs", "bench", MODEL, self.plan)

    def test_steps_are_cut_and_bytes_stay(self):
        path = self.calibrate()
        costs = json.loads(path.read_text())
        for kernel in costs["kernels"].values():  # Figures that every host has.
            kernel.update(ticks_per_step=100, ticks_per_million=10**9)
        path.write_text(json.dumps(costs))
        outputs, counts = [], []
        for name, bound in (("whole", ()), ("parts", ("--max-step-us", 150000))):
            plan = self.out / f"{name}.takt"
            report = self.json("convert", MODEL, "-o", plan, "--costs", path, *bound)
            counts.append(len(report["steps"]))
            self.succeeds("run", plan, "--input", self.image, "--output-dir", self.out / name)
            outputs.append((self.out / name / "out_0.bin").read_bytes())
        self.assertEqual(outputs[0], outputs[1])
        self.assertGreater(counts[1], counts[0])
        self.assertLessEqual(report["longest_step_ticks"], 150000000)
        self.fails(1, ["takes", "--max-step-us allows 1", "longer bound"], "convert", MODEL, "-o", self.out / "b.takt",
                   "--costs", path, "--max-step-us", 1)
        self.assertFalse((self.out / "b.takt").exists())

    def test_faults(self):
        path = self.calibrate()
        convert = ("convert", MODEL, "-o", self.out / "a.takt", "--costs")
        self.fails(1, ["is no file of step costs: line 1 is no JSON", "--write-costs"], *convert, self.image)
        self.fails(1, "has the costs of target host, not of cortex-m4", *convert, path, "--target", "cortex-m4")
        self.fails(1, "a machine states", *convert, path, "--target", "ethos-u55-128")
        costs = json.loads(path.read_text())
        costs["kernels"] = {}
        path.write_text(json.dumps(costs))
        self.fails(1, ["the costs have no kernel \"conv2d of int8 and int8 to int8, fp32_rne\"", "takt bench"], *convert, path)
        npu = self.root / "npu.takt"
        takt("convert", MODEL, "-o", npu, "--target", "ethos-u55-128")
        self.fails(1, "states the costs of its host", "bench", npu, "--write-costs", self.out / "a.json")
        self.fails(1, "measures this host", "bench", MODEL, "--target", "cortex-m4", "--write-costs", self.out / "a.json")
        self.assertFalse((self.out / "a.json").exists())


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

    def test_no_baseline_yet(self):
        path = self.out / "new.json"
        arguments = ("bench", MODEL, *self.NPU, "--against", path, "--junit", self.out / "r.xml")
        self.fails(1, f"takt baseline update {path} {MODEL} --reason 'first baseline'", *arguments)
        self.fails(1, "TAKT_REASON='first baseline' cmake --build BUILD --target bless_latency", *arguments)
        self.assertIn("errors=\"1\"", (self.out / "r.xml").read_text())

    def test_another_subject_is_no_change(self):
        base = self.baseline()
        other = ("bench", MODEL, "--target", "ethos-u55-256", "--against", base, "--junit", self.out / "r.xml")
        self.fails(1, "is not what this baseline is of", *other)
        text = takt(*other).stdout
        self.assertTrue(text.startswith("not the same subject: target ethos-u55-128 -> ethos-u55-256\n"), text)
        self.assertIn("not the same subject: target", (self.out / "r.xml").read_text())
        text = takt("bench", MODEL, "--against", base).stdout
        self.assertIn("not the same subject: cycles only before", text)
        self.assertNotIn("-100.00 %", text)
        renamed = self.out / "renamed.tflite"
        renamed.write_bytes(pathlib.Path(MODEL).read_bytes())
        self.fails(1, "is not what this baseline is of", "bench", renamed, *self.NPU, "--against", base)

    def test_a_damaged_baseline_is_named(self):
        base = self.baseline()
        text = base.read_text()
        for change, message in (((r'"cycles": \d+', '"cycles": -1'), "'cycles' is -1; it must be a whole number"),
                                ((r'"plan_bytes"', '"plan"'), "'plan_bytes' is missing"),
                                ((r'"name":"[^"]*"', '"name":3'), "'steps[0].name' is 3; it must be a string"),
                                ((r'"target": .*', '<<<<<<< HEAD'), "line 3 is no JSON")):
            base.write_text(re.sub(*change, text, count=1))
            self.fails(1, message, "bench", MODEL, *self.NPU, "--against", base)

    def test_plans_compare_with_plans(self):
        other = self.out / "other.takt"
        self.succeeds("convert", MODEL, "-o", other, "--numerics", "tflite")
        text = self.succeeds("bench", other, "--against", self.plan)
        self.assertRegex(text, "kernel .* fp32_rne -> .* tflite")
        self.assertIn("steps that changed", self.succeeds("bench", MODEL, "--numerics", "tflite", "--against", self.plan))

    def test_ports_compare_with_ports(self):
        text = self.succeeds("bench", MODEL, "--against", "reference", "--iterations", 5, "--markdown", self.out / "r.md",
                             "--junit", self.out / "r.xml")
        self.assertRegex(text, r"median ns +\d+ -> \d+ .*Mann-Whitney")
        self.assertIn("advisory", (self.out / "r.xml").read_text() + text)
        self.assertIn("### reference: same", (self.out / "r.md").read_text())
        self.fails(1, "compares kernels of this host", "bench", MODEL, *self.NPU, "--against", "reference")
        if "xnnpack" not in takt("bench", MODEL, "--port", "none").stderr:
            self.skipTest("this build has no second port")
        text = self.succeeds("bench", MODEL, "--port", "xnnpack", "--against", "reference", "--iterations", 5)
        self.assertRegex(text, r"steps that changed \(median ns\)")
        self.assertRegex(text, r"kernel conv2d int8 fp32_rne on reference -> conv2d int8 fp32_rne on xnnpack")

    def test_wall_time_advises(self):
        base = self.out / "host.json"
        self.succeeds("baseline", "update", base, MODEL, "--wall", "--reason", "first")
        self.assertIn("advisory", self.succeeds("bench", MODEL, "--against", base, "--iterations", 10))

    def test_faults(self):
        base = self.baseline()
        self.fails(1, "TAKT_REASON='WHY'", "baseline", "update", base, MODEL)
        self.fails(1, "--reason 'WHY'", "baseline", "update", base, MODEL, "--reason", "")
        self.fails(1, "neither a plan nor a baseline", "bench", MODEL, "--against", self.image)
        self.fails(1, "is a plan", "baseline", "update", self.plan, MODEL, "--reason", "x")
        self.fails(2, "--junit", "bench", MODEL, "--junit", self.out / "r.xml")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
