#!/usr/bin/python3
"""Another writer of the store: Python, with the discipline of the engine that shares it with us. Every
read-modify-write takes flock LOCK_EX on job.lock, rereads, merges and replaces job.json by os.replace.

One JSON command a line on stdin, one JSON answer a line on stdout: {"ok": ANSWER} or {"failed": TEXT}.
`delay_s` in a command is slept before it is obeyed."""
import fcntl
import json
import os
import random
import secrets
import sys
import threading
import time
from contextlib import contextmanager
from datetime import datetime, timezone

TERMINAL = ("status", "finished_at", "finished_at_precision", "outcome", "reason_code", "terminal_source",
            "terminal_evidence")
held = []
watches = {}


@contextmanager
def locked(run_dir):
    fd = os.open(os.path.join(run_dir, "job.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def read(run_dir):
    with open(os.path.join(run_dir, "job.json"), encoding="utf-8") as file:
        return json.load(file)


def publish(run_dir, record):
    temporary = os.path.join(run_dir, ".job.json.%d.%s.tmp" % (os.getpid(), secrets.token_hex(4)))
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=2)
    os.replace(temporary, os.path.join(run_dir, "job.json"))


def increment(command):
    for _ in range(command["times"]):
        with locked(command["run_dir"]):
            record = read(command["run_dir"])
            record[command["key"]] += 1
            publish(command["run_dir"], record)
    return {"done": command["times"], "record": read(command["run_dir"])}


def hold(command):
    for run_dir in command["run_dirs"]:
        fd = os.open(os.path.join(run_dir, "job.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX)
        held.append(fd)
    return {"held": len(held)}


def release(_command):
    while held:
        os.close(held.pop())
    return {}


def merge(command):
    """Sets members and touches nothing else; attaching a pid and recording a notice are such merges."""
    with locked(command["run_dir"]):
        record = read(command["run_dir"])
        before = {"finished_at": record.get("finished_at"), "notify_delivery": record.get("notify_delivery")}
        record.update(command["set"])
        publish(command["run_dir"], record)
    return before


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def reap(command):
    """A pid that answers ESRCH, looked at before the lock; under it everything is looked at again."""
    run_dir = command["run_dir"]
    probed = read(run_dir)
    if probed.get("finished_at") is not None or not is_gone(probed["pid"]):
        return {"won": False}
    observed_at = datetime.now(timezone.utc).isoformat(timespec="microseconds")
    with locked(run_dir):
        record = read(run_dir)
        same = all(record.get(key) == probed.get(key) for key in ("pid", "pid_create_time"))
        if record.get("finished_at") is not None or record.get("spawn_state") != "started" or not same:
            return {"won": False}
        record.update({
            "status": "exited",
            "outcome": "indeterminate",
            "reason_code": "process_gone_without_outcome",
            "finished_at": observed_at,
            "finished_at_precision": "upper_bound",
            "terminal_source": "mcp_orphan_reaper",
            "terminal_evidence": {"kind": "process_identity_conclusively_gone", "finding": "pid_absent",
                                  "by": command["by"]},
            "notify_delivery": {"attempted": False},
        })
        publish(run_dir, record)
    return {"won": True}


def observe(command):
    """Goes over the runs again and again: adds one to its own key in each record, now and then ends the
    gone one it is at, and notes every end it saw that was another than the one it saw before."""
    chance = random.Random(command["seed"])
    run_dirs, name = command["run_dirs"], command["name"]
    ends, won, changed, writes = {}, [], [], 0
    for _ in range(command["passes"]):
        for run_dir in chance.sample(run_dirs, len(run_dirs)) if command["shuffled"] else run_dirs:
            time.sleep(chance.uniform(0, 2 * command["pause_s"]))
            if chance.random() < command["reap_chance"] and reap({"run_dir": run_dir, "by": name})["won"]:
                won.append(run_dir)
            with locked(run_dir):
                record = read(run_dir)
                record[name] = record.get(name, 0) + 1
                publish(run_dir, record)
            writes += 1
            if record.get("finished_at") is not None:
                end = [record.get(key) for key in TERMINAL]
                if ends.setdefault(run_dir, end) != end:
                    changed.append([run_dir, ends[run_dir], end])
    return {"won": won, "changed": changed, "writes": writes}


def watch(command):
    """Keeps every text of a record that a reader could see, from now on."""
    path, texts, stop = os.path.join(command["run_dir"], "job.json"), [], threading.Event()

    def look():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not texts or texts[-1] != text:
            texts.append(text)

    def run():
        while not stop.is_set():
            look()
            time.sleep(0.0005)
        look()

    look()
    thread = threading.Thread(target=run)
    thread.start()
    watches[command["run_dir"]] = (thread, stop, texts)
    return {}


def unwatch(command):
    thread, stop, texts = watches.pop(command["run_dir"])
    stop.set()
    thread.join()
    return texts


COMMANDS = {"increment": increment, "hold": hold, "release": release, "merge": merge, "reap": reap,
            "observe": observe, "watch": watch, "unwatch": unwatch}


def main():
    print(json.dumps({"ok": "ready"}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            time.sleep(command.get("delay_s", 0))
            answer = {"ok": COMMANDS[command["do"]](command)}
        except Exception as error:  # told to the test, which fails by it
            answer = {"failed": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(answer), flush=True)


main()
