#!/usr/bin/python3
"""Keys and signatures of plans."""
import sys
import unittest

from cli_case import CliTest, takt


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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
