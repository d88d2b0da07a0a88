# SPDX-License-Identifier: MIT
"""Runs the tests of a Python file and prints one TAP line per test."""

import unittest


def main(prefix):
    class Tap(unittest.TextTestResult):
        def startTest(self, test):
            super().startTest(test)
            self.failed_here = False

        def addError(self, test, error):
            super().addError(test, error)
            self.failed_here = True

        def addFailure(self, test, error):
            super().addFailure(test, error)
            self.failed_here = True

        def addSubTest(self, test, subtest, error):
            super().addSubTest(test, subtest, error)
            self.failed_here = self.failed_here or error is not None

        def stopTest(self, test):
            super().stopTest(test)
            name = test._testMethodName.removeprefix("test_").replace("_", " ")
            print("not ok" if self.failed_here else "ok", f"- {prefix}: {type(test).__name__}: {name}", flush=True)

    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Tap, verbosity=0))
