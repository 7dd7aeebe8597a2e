#!/usr/bin/env python3
"""Checks what `cargo run --example bike_rental -- --json` prints, read from the standard input."""

import json
import sys

# The load factors during the outage, and how far a run may be from them. Independent failures at rate f = 0.67 and three
# attempts: without a budget 1 + f + f^2; with 500 tokens, 250 calls and a cost of 14 about 1.25; with a ratio of 0.1, 1.1.
EXPECTED = {"none": (2.12, 0.15), "token": (1.25, 0.08), "ratio": (1.10, 0.03)}
COUNTS = ("calls", "attempts", "granted", "denied", "succeeded")
FACTORS = ("load_factor", "outage_load_factor")
KEYS = {*COUNTS, *FACTORS}


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_factor(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def problems_of_run(name, run):
    """What is wrong with one of the three runs."""
    if not isinstance(run, dict) or set(run) != KEYS:
        keys = sorted(run) if isinstance(run, dict) else run
        yield f"{name}: the keys are {keys}, not {sorted(KEYS)}"
        return
    wrong_type = [key for key in COUNTS if not is_count(run[key])]
    wrong_type += [key for key in FACTORS if not is_factor(run[key])]
    for key in wrong_type:
        yield f"{name}: {key} is {run[key]!r}, not a number of its kind"
    if wrong_type:
        return

    expected, tolerance = EXPECTED[name]
    factor = run["outage_load_factor"]
    if abs(factor - expected) > tolerance:
        yield f"{name}: outage_load_factor is {factor}, not {expected} ± {tolerance}"

    calls, attempts, granted = run["calls"], run["attempts"], run["granted"]
    if calls == 0:
        yield f"{name}: no calls"
        return
    # Every call's first attempt reaches the partner, and so does every granted retry.
    if attempts != calls + granted:
        yield f"{name}: {attempts} attempts aren't {calls} calls and {granted} granted retries"
    if abs(run["load_factor"] - attempts / calls) > 0.001:
        yield f"{name}: load_factor is {run['load_factor']}, not {attempts} / {calls}"
    if run["succeeded"] > calls:
        yield f"{name}: {run['succeeded']} of {calls} calls succeeded"
    if attempts > 3 * calls:
        yield f"{name}: {attempts} attempts are more than three for each of {calls} calls"
    if name == "none" and run["denied"] != 0:
        yield f"none: {run['denied']} retries were denied where nothing limits them"
    if name != "none" and run["denied"] == 0:
        yield f"{name}: no retry was denied in the outage"


def problems(text):
    """What is wrong with the output."""
    try:
        runs = json.loads(text)
    except json.JSONDecodeError as error:
        yield f"the output isn't JSON: {error}"
        return
    if not isinstance(runs, dict) or list(runs) != list(EXPECTED):
        yield f"the runs are {list(runs) if isinstance(runs, dict) else runs}, not {list(EXPECTED)}"
        return
    for name, run in runs.items():
        yield from problems_of_run(name, run)
    numbers = [run.get("calls") if isinstance(run, dict) else None for run in runs.values()]
    if len(set(map(str, numbers))) != 1:
        yield f"the three runs made different numbers of calls: {numbers}"


def main():
    found = list(problems(sys.stdin.read()))
    for problem in found:
        print(f"bike_rental: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
