#!/usr/bin/python3
"""The checks can fail: each finds its violation in a small tree, and nothing in a clean one."""
import contextlib
import io
import pathlib
import tempfile
import unittest

import cortex_m_budget
import file_budgets
import footprint
import layering
import same_text


def found(check, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return check(root)[0]


class Layering(unittest.TestCase):
    def violates(self, path, include):
        self.assertEqual(len(found(layering.check, {path: f"#include {include}\n"})), 1, f"{path} {include}")

    def passes(self, path, include):
        self.assertEqual(found(layering.check, {path: f"#include {include}\n"}), [])

    def test_upward_includes_are_found(self):
        self.violates("engine/base/arena.cc", '"engine/core/kernel.h"')
        self.violates("engine/hal/device.h", '"engine/plan/plan.h"')
        self.violates("engine/core/interpreter.cc", '"ports/reference/kernels.h"')
        self.violates("engine/plan/plan.cc", '"engine/core/interpreter.h"')
        self.violates("ports/simd/conv.cc", '"ports/reference/kernels.h"')
        self.violates("ports/simd/conv.cc", '"converter/ir/graph.h"')
        self.violates("converter/ir/graph.cc", '"converter/passes/pass.h"')
        self.violates("converter/passes/fold.cc", '"converter/cli/main.h"')
        self.violates("converter/passes/fold.cc", '"ports/simd/conv.h"')
        self.violates("samples/fashion/classify.cc", '"converter/ir/graph.h"')

    def test_downward_includes_pass(self):
        self.passes("engine/core/interpreter.cc", '"engine/plan/plan.h"')
        self.passes("ports/simd/conv.cc", '"ports/simd/conv.h"')
        self.passes("converter/passes/fold.cc", '"ports/simd/describe.h"')
        self.passes("tests/engine/plan_test.cc", '"converter/cli/main.h"')

    def test_heap_headers_are_found_in_embedded_code_only(self):
        self.violates("engine/core/interpreter.cc", "<vector>")
        self.passes("converter/ir/graph.cc", "<vector>")

    def test_generated_headers_are_found_in_public_headers_only(self):
        self.violates("engine/plan/plan.h", '"schema/plan_generated.h"')
        self.passes("engine/plan/plan.cc", '"schema/plan_generated.h"')


class FileBudgets(unittest.TestCase):
    def test_one_line_too_many_is_found(self):
        for path, lines in {"engine/a.cc": 400, "engine/a.h": 250, "tests/a_test.cc": 600}.items():
            self.assertEqual(found(file_budgets.check, {path: "x\n" * lines}), [])
            self.assertEqual(len(found(file_budgets.check, {path: "x\n" * (lines + 1)})), 1)


class Footprint(unittest.TestCase):
    BUDGETS = "# comment\nm.tflite 100 120 50 -\n"

    def findings(self, activation, overhead, text=BUDGETS):
        (model, budget), = footprint.parse(text)
        return list(footprint.compare(model, budget, {"activation": activation, "overhead": overhead}))

    def test_reviewed_values_pass_and_each_byte_more_or_less_is_found(self):
        self.assertEqual(self.findings(100, 50), [])
        for activation, overhead in ((99, 50), (101, 50), (100, 49), (100, 51)):
            self.assertEqual(len(self.findings(activation, overhead)), 1)

    def test_blessing_keeps_comments_and_limits_and_does_not_lift_a_limit(self):
        blessed = footprint.bless(self.BUDGETS, {"m.tflite": {"activation": 121, "overhead": 9}})
        self.assertEqual(footprint.parse(blessed), [("m.tflite", {"activation": (121, 120), "overhead": (9, None)})])
        self.assertTrue(blessed.startswith("# comment\n"))
        self.assertEqual(len(self.findings(121, 9, blessed)), 1)

    def test_weights_and_biases_are_counted_once(self):
        plan = {"tensors": [{"index": 0, "bytes": 7, "arena": "activation"}] +
                           [{"index": i, "bytes": 10 ** i, "constant": 0} for i in (1, 2, 3)],
                "steps": [{"op": "conv2d", "inputs": [0, 1, 2, 3]}, {"op": "add", "inputs": [0, 3]},
                          {"op": "fully_connected", "inputs": [0, 1, 2, 3]}]}
        self.assertEqual(footprint.weight_bytes(plan), 110)


class CortexM(unittest.TestCase):
    TEXT = "# comment\nlimit m4 net engine+kernels 30\nm4 net 10 20 1 2 3 4 5 6\nm55 old 1 1 1 1 1 1 1 1\n"
    ROW = {"core": "m4", "model": "net", **dict(zip(cortex_m_budget.COLUMNS, (10, 20, 1, 2, 3, 4, 5, 6)))}

    def findings(self, text=TEXT, **changes):
        return list(cortex_m_budget.compare([self.ROW | changes], *cortex_m_budget.parse(text)))

    def test_each_byte_more_is_found(self):
        self.assertEqual(self.findings(), [])
        self.assertEqual(self.findings(engine=9), [])
        self.assertEqual(len(self.findings(stack_invoke=7)), 1)
        self.assertEqual(len(self.findings(model="new")), 1)

    def test_blessing_keeps_limits_and_other_rows(self):
        blessed = cortex_m_budget.bless(self.TEXT, [self.ROW | {"engine": 11}])
        self.assertEqual(len(self.findings(blessed, engine=11)), 1, "the limit")
        self.assertEqual(self.findings(blessed), [])
        self.assertIn(("m55", "old"), cortex_m_budget.parse(blessed)[0])


class SameText(unittest.TestCase):
    def test_a_difference_is_found_and_blessing_removes_it(self):
        with tempfile.TemporaryDirectory() as root:
            kept = pathlib.Path(root) / "kept"
            kept.write_text("old\n")
            command = [str(kept), "echo", "new"]
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(same_text.main(command), 1)
            self.assertIn("-old\n+new\n", said.getvalue())
            self.assertEqual(same_text.main(["--bless", *command]), 0)
            self.assertEqual(same_text.main(command), 0)


if __name__ == "__main__":
    unittest.main()
