#!/usr/bin/python3
"""Emulated machines: bench, trace, report."""
import json
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

from cli_case import MODEL, CliTest, takt


class Machines(CliTest):
    """Models on emulated machines: cycles, trace, report."""
    NPU = ("--target", "ethos-u55-128")

    def test_bench_prints_cycles_of_every_step(self):
        bench = self.json("bench", MODEL, *self.NPU)
        self.assertEqual(sum(step["cycles"] for step in bench["steps"]), bench["cycles"])
        self.assertEqual(bench["npu_cycles"] + bench["host_cycles"] - bench["hidden_cycles"], bench["cycles"])
        self.assertAlmostEqual(bench["ms"], bench["cycles"] / bench["clock_hz"] * 1e3)
        on_npu = [step for step in bench["steps"] if step["on"] == "npu"]
        for memory in ("sram", "flash"):
            for key in ("read_bytes", "written_bytes"):
                self.assertEqual(sum(step["memories"][memory][key] for step in on_npu),
                                 sum(job["memories"][memory][key] for job in bench["jobs"]))
        self.assertAlmostEqual(sum(step["energy_nj"] for step in on_npu), bench["energy_nj"], places=3)
        for json_of in [bench, *on_npu, *bench["jobs"]]:
            self.assertAlmostEqual(sum(json_of["energy_parts_nj"].values()), json_of["energy_nj"], places=3)
        self.assertEqual(bench["area_um2"]["array"], 128 * 455)
        text = self.succeeds("bench", MODEL, *self.NPU)
        self.assertRegex(text, r"energy \d+ nJ: array \d+, vector \d+, buffers \d+, memories \d+; "
                               r"area \d\.\d{3} mm2: array 0\.058, buffers \d\.\d{3}")
        unknown = ("--set", "array.square_micrometre_per_mac=0", "--set", "array.femtojoule_per_mac=0")
        self.assertRegex(self.succeeds("bench", MODEL, *self.NPU, *unknown),
                         r"nJ: array not stated, vector .*mm2: array not stated, buffers")
        self.assertIsNone(self.json("bench", MODEL, *self.NPU, *unknown)["energy_parts_nj"]["array"])
        for word in (f"{bench['cycles']} cycles", "bound by", "util", "nJ", "validated against", "sram", "flash"):
            self.assertIn(word, text)

    def test_rows_say_what_bounds_them(self):
        slow = ("--set", "memories.flash.bytes_per_cycle=1/8")
        bench = self.json("bench", MODEL, *self.NPU, *slow)
        self.assertIn("load (flash)", [step["bound_by"] for step in bench["steps"]])
        for step in bench["steps"]:
            self.assertEqual(step["on"] == "host", "reason" in step and "the NPU wants" in step["reason"], step)
        waits = sum(step.get("waiting", {}).get("mac", {}).get("load", 0) for step in bench["steps"])
        self.assertGreater(waits, 0)
        self.assertLessEqual(waits, sum(job["pipes_ticks"]["mac"]["wait"]["load"] for job in bench["jobs"]))
        text = self.succeeds("bench", MODEL, *self.NPU, *slow)
        self.assertIn("load (flash)", text)
        self.assertRegex(text, r"softmax .*\(the NPU wants that ")

    def test_stalls_sum_to_the_total(self):
        for job in self.json("bench", MODEL, *self.NPU)["jobs"]:
            sums = {sum(v for v in pipe.values() if isinstance(v, int)) + sum(pipe["wait"].values())
                    for pipe in job["pipes_ticks"].values()}
            self.assertEqual(len(sums), 1)

    def test_what_if(self):
        slow = self.json("bench", MODEL, *self.NPU, "--set", "memories.flash.bytes_per_cycle=1/4")["cycles"]
        cycles = self.json("bench", MODEL, *self.NPU)["cycles"]
        self.assertLess(cycles, slow)
        ports = ("--set", "buffers.accumulator.ports=1")
        self.assertLess(cycles, self.json("bench", MODEL, *self.NPU, *ports)["cycles"])
        self.assertEqual(cycles, self.json("bench", MODEL, *self.NPU, *ports, "--set", "buffers.accumulator.banks=2")["cycles"])
        for slower in ("set_cycles=20", "wait_cycles=20", "queue_depth=1", "array.weights_per_cycle=2"):
            self.assertLess(cycles, self.json("bench", MODEL, *self.NPU, "--set", slower)["cycles"], slower)

    def test_trace_pairs_every_arrow(self):
        self.succeeds("trace", MODEL, *self.NPU, "-o", self.out)
        events = json.loads(self.out.read_text())["traceEvents"]
        by = lambda phase: [e for e in events if e["ph"] == phase]
        tracks = {e["args"]["name"] for e in by("M") if e["name"] == "thread_name"}
        self.assertEqual(tracks, {"command", "load", "operand", "mac", "vector", "store", "layers", "host"})
        times = [e["ts"] for e in events if e["ph"] != "M"]
        self.assertEqual(times, sorted(times))
        starts = {e["id"]: e for e in by("s")}
        self.assertGreater(len(starts), 0)
        self.assertEqual(sorted(starts), sorted(e["id"] for e in by("f")))
        self.assertEqual(len(starts), len(by("s")))
        self.assertTrue(all(e["ts"] >= starts[e["id"]]["ts"] for e in by("f")))
        slices = {}
        for e in by("X"):
            slices.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
        for e in by("s") + by("f"):  # an arrow is drawn only from slice to slice
            self.assertTrue(any(start <= e["ts"] < end for start, end in slices[e["tid"]]), e)
        counters = {}
        for e in by("C"):
            counters.setdefault(e["name"], []).append((e["ts"], e["args"]["value"]))
        self.assertFalse([name for name in counters if name.startswith(("feature_a", "weight_b"))])  # no second level
        for buffer in ("feature", "weight", "accumulator", "output", "parameter"):
            used = [value for _, value in counters[f"{buffer} bytes in use"]]
            size = self.description()["buffers"][buffer]
            self.assertTrue(0 < max(used) <= (size["bytes"] if isinstance(size, dict) else size), buffer)
            self.assertEqual(used[-1], 0)
        rates = counters["sram bytes a cycle"]
        moved = sum(rate for _, rate in rates) * (rates[1][0] - rates[0][0])
        sram = [job["memories"]["sram"] for job in self.json("bench", MODEL, *self.NPU)["jobs"]]
        self.assertAlmostEqual(moved, sum(m["read_bytes"] + m["written_bytes"] for m in sram), delta=1)
        for track in slices.values():  # a pipe does one thing at a time
            self.assertTrue(all(a[1] <= b[0] + 1e-6 for a, b in zip(track, track[1:])))

    def test_report_is_one_page_without_scripts(self):
        self.succeeds("report", MODEL, *self.NPU, "-o", self.out)
        page = self.out.read_text()
        for word in ("<h2>Timeline</h2>", "<h2>Roofline</h2>", "<h2>Steps</h2>", "<h2>Memory over time</h2>", "ethos-u55-128"):
            self.assertIn(word, page)
        for word in ("<script", "src=", "href=", "url("):
            self.assertNotIn(word, page)
        for word in ("nan", "inf"):
            self.assertIsNone(re.search(rf"\b-?{word}\b", page))
        self.assertIn("prefers-color-scheme:dark", page)

    def test_report_agrees_with_bench(self):
        self.succeeds("report", MODEL, *self.NPU, "-o", self.out)
        page = self.out.read_text()
        root = xml.etree.ElementTree.fromstring(page[page.index("<html"):])
        bench = self.json("bench", MODEL, *self.NPU)
        number = lambda cell: float("".join(cell.itertext()).replace(",", "").rstrip(" %"))
        pipes, steps = root.iter("table")
        for row in pipes.findall("tr"):
            shares = [number(cell) for cell in row.findall("td")[1:] if cell.text]
            self.assertAlmostEqual(sum(shares), 100, delta=0.5)
        rows = [row.findall("td") for row in steps.find("tbody").findall("tr")]
        self.assertEqual([(row[1].text, row[2].text, number(row[3])) for row in rows],
                         [(step["op"], step["name"], step["cycles"]) for step in bench["steps"]])
        self.assertEqual(number(steps.find("tfoot").findall("tr/td")[3]), bench["cycles"])
        svg = "{http://www.w3.org/2000/svg}"
        timeline, memory, roofline = root.iter(svg + "svg")
        self.assertEqual([int(r.get("data-step")) for r in timeline.findall(svg + "rect")], list(range(len(rows))))
        held = [r for r in memory.findall(svg + "rect") if r.find(svg + "title").text.startswith("result of")]
        self.assertEqual(len(held), sum(step["on"] == "npu" for step in bench["steps"]))
        self.assertEqual(len(roofline.findall(svg + "circle")), sum(step.get("macs", 0) > 0 for step in bench["steps"]))
        for rect in root.iter(svg + "rect"):
            x, y, width, height = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
            self.assertTrue(width > 0 and height > 0 and x >= 90 and x + width <= 1051 and y >= 0)

    def test_a_plan_brings_its_machine(self):
        plan = self.npu_plan()
        slices = []
        for subject in ((MODEL, *self.NPU), (plan,)):
            self.succeeds("trace", *subject, "-o", self.out)
            events = json.loads(self.out.read_text())["traceEvents"]
            slices.append([(e["tid"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"])
        self.assertEqual(slices[0], slices[1])
        self.succeeds("report", plan, "-o", self.out)
        self.assertIn("see the description of ethos-u55-128; a plan does not tell", self.out.read_text())
        self.fails(1, ["is not for an emulated NPU", "--target"], "trace", self.plan, "-o", self.out)

    def test_bench_of_a_plan_tells_its_cycles(self):
        plan = self.npu_plan()
        model, read = self.json("bench", MODEL, *self.NPU), self.json("bench", plan)
        self.assertEqual((model["machine"], model["cycles"]), (read["machine"], read["cycles"]))
        self.assertEqual([step["cycles"] for step in model["steps"]], [step["cycles"] for step in read["steps"]])
        self.fails(2, ["--iterations", "computed", "leave it out"], "bench", plan, "--iterations", 5)
        self.fails(2, ["--port", "computed"], "bench", MODEL, *self.NPU, "--port", "reference")

    def test_a_plan_takes_no_options_of_a_conversion(self):
        plan = self.npu_plan()
        for verb in ("trace", "report"):
            for option, value in (("--set", "array.width=8"), ("--target", "davinci-310"), ("--numerics", "tflite")):
                self.fails(2, ["npu.takt: is a plan", option, "give the model"], verb, plan, option, value, "-o", self.out)
        self.fails(2, "--set", "bench", plan, "--set", "array.width=8")
        self.fails(2, "--target", "bench", self.plan, "--target", "cortex-m4")
        self.fails(2, "--set", "inspect", plan, "--set", "array.width=8")
        self.fails(2, ["--machine", "--target"], "trace", MODEL, *self.NPU, "--machine", plan, "-o", self.out)
        self.assertFalse(self.out.exists())

    def test_disassembly_is_the_same_of_model_and_plan(self):
        plan, text = self.root / "listed.takt", self.root / "listed.txt"
        self.json("convert", MODEL, *self.NPU, "-o", plan, "--disassembly", text)
        self.succeeds("inspect", plan, "--disassembly", self.out)
        self.assertEqual(self.out.read_text(), text.read_text())
        self.assertRegex(self.out.read_text(), r"^job 0\n000000 load +copy from=base")
        self.fails(1, "none", "inspect", self.plan, "--disassembly", self.root / "none.txt")
        self.fails(2, ["--disassembly", "is a model"], "inspect", MODEL, "--disassembly", self.root / "none.txt")
        self.assertFalse((self.root / "none.txt").exists())

    def npu_plan(self):
        plan = self.root / "npu.takt"
        if not plan.exists():
            self.json("convert", MODEL, *self.NPU, "-o", plan)
        return plan

    def test_wrong_targets_and_machines(self):
        self.fails(1, ["cortex-m4", "is no machine", "ethos-u55-128"], "trace", MODEL, "--target", "cortex-m4", "-o", self.out)
        self.fails(1, ["buffers.weight", "48 bytes", "64 at once: 16 are missing"], "bench", MODEL, *self.NPU,
                   "--set", "buffers.weight=96")
        self.fails(1, ["activations ", "sram of ethos-u55-128 has 1000", "bytes are missing", "fashion.tflite:"],
                   "bench", MODEL, *self.NPU, "--set", "memories.sram.bytes=1000")
        done = takt("bench", MODEL, "--target", "ethos-u65-256", "--set", "memories.sram.bytes=1000")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\d+ tensors lie in dram")
        self.fails(1, ["routes.load", "is missing"], "bench", MODEL, "--machine", self.machine_without("routes", "load"))
        self.assertFalse(self.out.exists())

    def description(self):
        return json.loads((pathlib.Path(__file__).parents[2] / "ports/npu_emu/machines/ethos-u55-128.json").read_text())

    def machine_without(self, section, key):
        machine = self.description()
        del machine[section][key]
        made = self.root / "machine.json"
        made.write_text(json.dumps(machine))
        return made


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
