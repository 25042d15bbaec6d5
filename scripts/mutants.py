#!/usr/bin/env python3
"""Checks the conformance suite: builds Ambit with deliberate faults, and plays for each fault the scenarios that must see it.

Exit status: 0 if each fault is caught by a statement of its own, 1 if one is not, 2 if nothing can be played.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRATCH = ".build-mutants"
PROGRAMS = ["ambit-tools", "ambit", "ambitctl", "ambit-agent", "plain-agent", "TextEdit", "Particles", "Snippets"]
# A few scenarios of other areas: they tell a fault from a system that does nothing at all.
CONTROLS = ["TOK-2-", "BMK-3-", "SBX-1-own"]
# Seconds for one play.
PATIENCE = 900


def build(swift):
    for program in PROGRAMS:
        command = [swift, "build", "--scratch-path", SCRATCH, "-Xswiftc", "-DAMBIT_MUTANTS", "--product", program]
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            sys.exit(2)
    if subprocess.run(["scripts/assemble-demos.sh", f"{SCRATCH}/debug", f"{SCRATCH}/demos-debug"], cwd=ROOT).returncode != 0:
        sys.exit(2)


def play(ambit, fault, filters, jobs):
    """The outcomes of scenarios with one of these texts in their names; `fault` may be None."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AMBIT_")}
    if fault:
        environment["AMBIT_MUTANT"] = fault
    command = [ambit, "conform", "--user", "root", "--format", "json", "--jobs", str(jobs)]
    for text in filters:
        command += ["--filter", text]
    try:
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None, f"no result within {PATIENCE} s"
    try:
        outcomes = json.loads(run.stdout)["systems"][0]["outcomes"]
    except (ValueError, LookupError):
        return None, (run.stderr.strip().splitlines() or ["no answer"])[-1]
    return outcomes, ""


def failed(outcomes):
    return [each for each in outcomes if each["verdict"] in ("failed", "error")]


def judge(ambit, mutant, names):
    """One row of the table."""
    start = time.monotonic()
    filters = [statement + "-" for statement in mutant["statements"]]
    filters = [text for text in filters if any(name.lower().startswith(text.lower()) for name in names)]
    row = {"mutant": mutant, "result": "NOT caught", "by": [], "others": [], "note": ""}
    outcomes, fault = play(ambit, mutant["name"], filters + CONTROLS, 1)
    if outcomes is None:
        row["note"] = fault
    else:
        for each in failed(outcomes):
            row["by" if each["statement"] in mutant["statements"] else "others"].append(each)
        if row["by"]:
            row["result"] = "caught"
        elif row["others"]:
            row["result"] = "caught elsewhere only"
    row["seconds"] = time.monotonic() - start
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("faults", nargs="*", help="only these faults; default: all")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they were built last")
    parser.add_argument("--no-control", action="store_true", help="do not play the whole suite without a fault")
    parser.add_argument("--verbose", action="store_true", help="say for each fault what the failed scenarios saw")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("mutants: run it as root: scenarios are played as root")
    if not arguments.no_build:
        build(os.environ.get("SWIFT", "swift"))
    ambit = os.path.join(ROOT, SCRATCH, "debug", "ambit")
    try:
        listed = subprocess.run([ambit, "mutants"], capture_output=True, text=True, check=True).stdout
        names = subprocess.run([ambit, "conform", "--list"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"mutants: the programs are not there, or have no faults: {error}", file=sys.stderr)
        sys.exit(2)
    mutants = json.loads(listed)["mutants"]
    names = [line.split()[0] for line in names.splitlines() if line.split()]
    unknown = set(arguments.faults) - {each["name"] for each in mutants}
    if unknown:
        sys.exit("mutants: there is no fault " + ", ".join(sorted(unknown)))
    if arguments.faults:
        mutants = [each for each in mutants if each["name"] in arguments.faults]

    began = time.monotonic()
    status = 0
    if not arguments.no_control:
        outcomes, fault = play(ambit, None, [], 2)
        bad = failed(outcomes) if outcomes is not None else [{"scenario": "the suite", "reason": fault}]
        print(f"without a fault: {len(outcomes or [])} scenarios, {len(bad)} failed ({time.monotonic() - began:.0f} s)")
        for each in bad:
            print(f"  {each['scenario']}: {each['reason']}")
        status = 1 if bad else 0

    width = max(len(each["name"]) for each in mutants)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for row in pool.map(lambda mutant: judge(ambit, mutant, names), mutants):
            rows.append(row)
            mutant = row["mutant"]
            seen = sorted({each["statement"] for each in row["by"] or row["others"]})
            text = row["result"] + (f" by {', '.join(seen)}" if seen else "")
            if row["note"]:
                text += ": " + row["note"]
            if row["by"] and row["others"]:
                text += f" (and {len(row['others'])} controls)"
            expected = " ".join(mutant["statements"])
            print(f"{mutant['name']:{width}}  {expected:18}  {text:32}  {row['seconds']:5.1f} s", flush=True)
            if row["result"] != "caught":
                print(f"  {mutant['sentence']}")
            if arguments.verbose or row["result"] != "caught":
                for each in row["by"] + row["others"]:
                    print(f"  {each['scenario']}: {each['reason']}")
    count = sum(row["result"] == "caught" for row in rows)
    print(f"{count} of {len(rows)} faults caught by a statement of their own ({time.monotonic() - began:.0f} s)")
    sys.exit(status if count == len(rows) else 1)


if __name__ == "__main__":
    main()
