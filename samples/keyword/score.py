"""What `listen` heard against what was said:

    listen keyword.takt build/held_out.wav | python3 samples/keyword/score.py build/held_out.json

A keyword is right if it alone is heard between its begin and half a second after its end.
"""
import collections
import json
import re
import sys

RATE, LATE = 16000, 0.5


def heard(lines):
    """(seconds, word) of each word that listen printed."""
    found = (re.match(r" *([\d.]+) s +(\w+) ", line) for line in lines)
    return [(float(m[1]), m[2]) for m in found if m]


def main():
    said = json.load(open(sys.argv[1]))
    events = heard(sys.stdin)
    count, taken = collections.Counter(), set()
    missed, confused = collections.Counter(), collections.Counter()
    for word in said:
        begin, end = word["begin"] / RATE, word["end"] / RATE + LATE
        found = [i for i, (time, _) in enumerate(events) if begin < time <= end]
        taken.update(found)
        names = [events[i][1] for i in found]
        keyword = word["label"] != "unknown"
        right = names == ([word["label"]] if keyword else [])
        count[keyword, right] += 1
        if keyword and not right:
            missed[word["label"]] += 1
        if names and not right:
            confused[f"{word['text']} as {' '.join(names)}"] += 1
    for keyword, name, verb in ((True, "keywords", "recognised"), (False, "other words", "left alone")):
        total = count[keyword, True] + count[keyword, False]
        print(f"{name}: {count[keyword, True]} of {total} {verb}, {100 * count[keyword, True] / total:.1f} %")
    print(f"heard where nothing was said: {len(events) - len(taken)}")
    print("not recognised:", ", ".join(f"{word} {n}" for word, n in missed.most_common()) or "none")
    print("taken for another:", ", ".join(f"{text} {n}" for text, n in confused.most_common()) or "none")


if __name__ == "__main__":
    main()
