#!/usr/bin/python3
"""What Python's json makes of texts, for tests that must agree with it. One JSON command a line:

{"do": "accepts", "texts": [...]} -> for each, whether json.loads reads it
{"do": "values", "texts": [...]}  -> for each, null where json.loads refuses it, else [its value]
{"do": "members", "text": T}      -> the outermost object's [key, value] in order, duplicates included

In a value, a number is {"number": its own text} and an object is {"members": [[key, value], ...]}, so that JSON
carries it without rounding or moving anything."""
import json
import sys


def number(text):
    return {"number": text}


def written(pairs):
    return {"members": [[key, value] for key, value in pairs]}


def kept(pairs):
    return {"members": [[key, value] for key, value in dict(pairs).items()]}


def loads(text, members):
    return json.loads(text, object_pairs_hook=members, parse_int=number, parse_float=number, parse_constant=number)


def is_read(text):
    try:
        json.loads(text)
        return True
    except (ValueError, RecursionError):
        return False


def accepts(command):
    return [is_read(text) for text in command["texts"]]


def values(command):
    return [[loads(text, kept)] if is_read(text) else None for text in command["texts"]]


def members(command):
    return loads(command["text"], written)["members"]


COMMANDS = {"accepts": accepts, "values": values, "members": members}


def main():
    print(json.dumps({"ok": "ready"}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": COMMANDS[command["do"]](command)}
        except Exception as error:  # told to the test, which fails by it
            answer = {"failed": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(answer), flush=True)


main()
