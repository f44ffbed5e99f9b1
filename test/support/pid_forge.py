#!/usr/bin/python3
"""Starts processes, and gives the number of one to another. Only in a private pid namespace, as its root.

Arguments: two FIFOs, for commands and for answers, one JSON object a line.
  start    {name, mark}   a sleep that leads its own group, with the mark of a run or none          -> {pid}
  orphan   {name, mark}   puts a sleep with that mark into its group, and ends and collects it      -> {pid}
  replace  {name}         ends and collects it and what was put into its group, and starts a stranger
                          with its number, which leads its own group and carries no mark            -> {taken}
  look     {name}         `alive` or how it ended: of the process (the member, where it was
                          orphaned), and of the stranger; null for none                             -> {own, stranger}
  clear    {name}         ends and collects all of it                                               -> {}"""
import json
import os
import signal
import sys
import time

TRIES = 200
BARE_ENV = {"PATH": "/usr/bin:/bin"}
numbers, own, strangers, ended = {}, {}, {}, {}


def start(mark, group):
    """In this group, or leading its own (0). Returns when the program runs and shows its own environment."""
    env = BARE_ENV if mark is None else dict(BARE_ENV, LIONAGI_MCP_JOB_RUN_ID=mark)
    running, begun = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, group)
        nowhere = os.open("/dev/null", os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.execve("/bin/sleep", ["sleep", "3600"], env)
    os.close(begun)
    os.read(running, 1)
    os.close(running)
    ended.pop(pid, None)
    return pid


def collect(pid, wait):
    """How it ended, or `alive`."""
    if pid not in ended:
        done, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
        if done == 0:
            return "alive"
        ended[pid] = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "exited"
    return ended[pid]


def end(pid):
    if collect(pid, False) == "alive":
        os.kill(pid, signal.SIGKILL)
        collect(pid, True)


def begin(command):
    pid = numbers[command["name"]] = own[command["name"]] = start(command["mark"], 0)
    return {"pid": pid}


def orphan(command):
    leader = numbers[command["name"]]
    own[command["name"]] = start(command["mark"], leader)
    end(leader)
    return {"pid": own[command["name"]]}


def replace(command):
    name, number = command["name"], numbers[command["name"]]
    end(own[name])
    how = ended[own[name]]
    for _ in range(TRIES):
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(number - 1))
        pid = start(None, 0)
        if pid == number:
            strangers[name] = how
            return {"taken": True}
        end(pid)
        time.sleep(0.001)
    return {"taken": False}


def look(command):
    name = command["name"]
    if name in strangers:
        return {"own": strangers[name], "stranger": collect(numbers[name], False)}
    return {"own": collect(own[name], False), "stranger": None}


def clear(command):
    name = command["name"]
    if name not in strangers:
        end(own[name])
    elif collect(numbers[name], False) == "alive":
        end(numbers[name])
    for known in (numbers, own, strangers):
        known.pop(name, None)
    return {}


COMMANDS = {"start": begin, "orphan": orphan, "replace": replace, "look": look, "clear": clear}


def main():
    with open(sys.argv[1], encoding="utf-8") as commands, open(sys.argv[2], "w", encoding="utf-8") as answers:
        for line in commands:
            command = json.loads(line)
            answers.write(json.dumps(COMMANDS[command["do"]](command)) + "\n")
            answers.flush()


main()
