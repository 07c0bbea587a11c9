"""Compares what ports/cortex_m/measure.py found with budgets/cortex_m.txt."""
import pathlib

BUDGETS = pathlib.Path(__file__).resolve().parent / "budgets" / "cortex_m.txt"
COLUMNS = ("engine", "kernels", "sha256", "libc", "app", "ram", "stack_init", "stack_invoke")


def parse(text):
    """({(core, model): {column: bytes}}, [(core, model, columns, bytes)]): budgets and limits."""
    budgets, limits = {}, []
    for words in (line.split() for line in text.splitlines() if line and not line.startswith("#")):
        if words[0] == "limit":
            limits.append((words[1], words[2], words[3].split("+"), int(words[4])))
        else:
            budgets[words[0], words[1]] = dict(zip(COLUMNS, map(int, words[2:]), strict=True))
    return budgets, limits


def compare(rows, budgets, limits):
    """What is wrong, as sentences; less than a budget is not."""
    for row in rows:
        budget = budgets.get((row["core"], row["model"]))
        name = f"{row['core']} {row['model']}"
        if budget is None:
            yield f"{name}: has no budget; if it is new, run measure.py with --bless"
            continue
        for column, allowed in budget.items():
            if row[column] > allowed:
                yield f"{name}: {column} takes {row[column]} bytes, {allowed} were reviewed; if that is meant, run measure.py with --bless"
        for core, model, columns, most in limits:
            used = sum(row[column] for column in columns)
            if (core, model) == (row["core"], row["model"]) and used > most:
                yield f"{name}: {' + '.join(columns)} take {used} bytes, their limit is {most}"


def bless(text, rows):
    """The text with the values of `rows`; comments, limits and other rows stay."""
    budgets, _ = parse(text)
    budgets |= {(row["core"], row["model"]): {column: row[column] for column in COLUMNS} for row in rows}
    kept = [line for line in text.splitlines() if not line or line.startswith("#") or line.startswith("limit ")]
    lines = [f"{core:4} {model:40}" + "".join(f"{budget[column]:13}" for column in COLUMNS)
             for (core, model), budget in budgets.items()]
    return "\n".join(kept + lines) + "\n"


def check(rows, blessed):
    """Findings; writes the file first if `blessed`."""
    if blessed:
        BUDGETS.write_text(bless(BUDGETS.read_text(), rows))
    return list(compare(rows, *parse(BUDGETS.read_text())))
