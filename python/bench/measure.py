"""Times, memory peaks and the table that they are printed in."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

Work = Callable[[], object]


def in_turns(works: list[Work], rounds: list[int], clock: Callable[[], float] = time.process_time) -> list[float]:
    """Medians in seconds of so many rounds each, in which the works take turns, after a first round that is not counted
    where there are several."""
    times: list[list[float]] = [[] for _ in works]
    for turn in range(-1, max(rounds)):
        for work, most, kept in zip(works, rounds, times):
            if turn >= most or (turn < 0 and most < 2):
                continue
            gc.collect()
            start = clock()
            result = work()
            seconds = clock() - start
            del result
            if turn >= 0:
                kept.append(seconds)
    return [statistics.median(kept) for kept in times]


def microseconds(work: Work, calls: int = 2000, rounds: int = 7) -> float:
    """The median time of one call in a loop of many."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            work()
        times.append((time.perf_counter() - start) / calls)
    return statistics.median(times) * 1e6


def peak(work: Work) -> tuple[float, object]:
    """How many MB the process grew by while it worked, at most, and what the work returned. Linux only."""
    gc.collect()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak is the present size now
    before = resident()
    result = work()
    return status_kilobytes("VmHWM") / 1024 - before, result


def resident() -> float:
    """MB of memory that the process has now."""
    return status_kilobytes("VmRSS") / 1024


def status_kilobytes(name: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    raise LookupError(name)


def in_new_process(code: str, rounds: int) -> float:
    """The median of the number that a program prints."""
    printed = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
               for _ in range(rounds)]
    return statistics.median(float(text) for text in printed)


def machine() -> str:
    name = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"


class Table:
    """Rows of the comparison, printed as they come."""

    def __init__(self) -> None:
        self.missed: list[str] = []
        self.rows = 0
        print(f"{'work':<52}{'rival':>11}{'sapwood':>11}{'ratio':>9}{'target':>9}")

    def ratio(self, work: str, rival: float, ours: float, target: float, stretch: float | None = None) -> None:
        """A row of seconds: how many times as fast as the rival."""
        self._row(work, seconds(rival), seconds(ours), f"{rival / ours:.1f} x", f">= {target:g} x",
                  rival / ours >= target, stretch is not None and rival / ours >= stretch)

    def most(self, work: str, rival: str, value: float, target: float, unit: str) -> None:
        """A row whose value must be at most its target."""
        self._row(work, rival, f"{value:.2f} {unit}", "", f"<= {target:g}", value <= target, False)

    def least(self, work: str, rival: str, value: float, target: float, unit: str) -> None:
        """A row whose value must be at least its target."""
        self._row(work, rival, f"{value:.2f} {unit}", "", f">= {target:g}", value >= target, False)

    def note(self, text: str) -> None:
        print(f"  ({text})", flush=True)

    def _row(self, work: str, rival: str, ours: str, ratio: str, target: str, reached: bool, beyond: bool) -> None:
        self.rows += 1
        if not reached:
            self.missed.append(work)
        verdict = "stretch reached" if beyond else "reached" if reached else "MISSED"
        print(f"{work:<52}{rival:>11}{ours:>11}{ratio:>9}{target:>9}  {verdict}", flush=True)

    def end(self) -> int:
        print(f"{self.rows - len(self.missed)} of {self.rows} targets reached"
              + (f"; missed: {'; '.join(self.missed)}" if self.missed else ""))
        return 1 if self.missed else 0


def seconds(value: float) -> str:
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1e3:.2f} ms"
