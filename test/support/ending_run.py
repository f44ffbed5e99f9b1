#!/usr/bin/python3
"""A run that writes its own end and exits 0: so many seconds after it is told to on stdin, or 50 ms after SIGTERM.

Argument: JSON {"run_dir": DIR, "hook": ARGV or null}. The end is written by the command, or, where that is null, as
the Python engine's hook does: under flock LOCK_EX on job.lock, with a reread, never over an end that is there."""
import fcntl
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone

asked = json.loads(sys.argv[1])
run_dir = asked["run_dir"]


def write_end():
    fd = os.open(os.path.join(run_dir, "job.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with open(os.path.join(run_dir, "job.json"), encoding="utf-8") as file:
            record = json.load(file)
        if record.get("finished_at") is not None:
            return
        record.update({
            "status": "completed",
            "finished_at": datetime.now(timezone.utc).isoformat(timespec="microseconds"),
            "finished_at_precision": "observed",
            "cli_status": "completed",
            "terminal_source": "cli_terminal_hook",
            "notify_delivery": {"attempted": False},
        })
        temporary = os.path.join(run_dir, ".job.json.%d.%s.tmp" % (os.getpid(), secrets.token_hex(4)))
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)
        os.replace(temporary, os.path.join(run_dir, "job.json"))
    finally:
        os.close(fd)


woken, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGTERM, lambda number, frame: None)
print("ready", flush=True)
ready, _, _ = select.select([woken, sys.stdin], [], [])
if woken in ready:
    time.sleep(0.05)
else:
    wait = float(sys.stdin.readline())
    if select.select([woken], [], [], wait)[0]:
        time.sleep(0.05)
if asked["hook"] is None:
    write_end()
else:
    subprocess.run(asked["hook"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
