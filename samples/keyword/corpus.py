"""Speech to train on and to test with: words said by espeak-ng in many voices, between noise, in one long WAV file.

    /usr/bin/python3 samples/keyword/corpus.py held_out build/held_out.wav

writes the WAV file (16 kHz, one channel) and, beside it, held_out.json: what is said, by whom, and from which sample to
which. The same split gives the same bytes, with the same espeak-ng; "sample" is the one in this folder.
"""
import argparse
import json
import pathlib
import subprocess
import wave

import numpy as np

RATE = 16000
KEYWORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
# What the network tells apart: nothing, another word, and the keywords.
LABELS = ("nothing", "unknown") + KEYWORDS
ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-gb-x-rp", "en-029", "en-us-nyc")


class Split:
    """Voices (variants of espeak-ng), other words, and how much of them."""

    def __init__(self, seed, voices, others, rounds):
        self.seed, self.voices, self.others, self.rounds = seed, voices.split(), others.split(), rounds


SPLITS = {
    "train": Split(
        1,
        "Alex Andy Annie Denis Diogo Henrique Hugo Jacky Lee Marco Mario Michael Mike Nguyen Storm adam anika announcer "
        "antonio aunty belinda benjamin boris david ed f1 f2 f3 f4 grandma grandpa gustave iven john klatt klatt2 klatt3 "
        "klatt4 linda m1 m2 m4 m5 m6 m7 m8 marcelo max michel miguel norbert pablo paul pedro quincy rob robert shelby zac",
        "zero one two three four five six seven eight nine ten bird cat dog tree house happy sheila marvin bed wow follow "
        "learn visual forward backward table window water paper goat gold low snow note yet less lift life light "
        "rise town dawn done own often office cup hub shop step store lost love letter hello music please thank you "
        "computer open close start play volume good morning nice evening upper rice dim lamp kitchen colour green cold "
        "honest ready guess mess dress bless loft let rough not",
        5),
    "held_out": Split(
        2,
        "Alicia Andrea Gene Gene2 edward edward2 f5 m3 sandro steph steph2 steph3 travis victor",
        "red blue yellow apple river mountain door finger coffee island monday summer garden railway teacher london engine "
        "market pencil flower chicken butter winter silver moment orange picture doctor number father lemon rocket planet",
        4),
}


def say(word, voice, speed, pitch):
    """What espeak-ng says, in [-1, 1] at 16 kHz, without the silence around it."""
    sound = subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", word],
                           check=True, capture_output=True).stdout
    x = np.frombuffer(sound[44:], "<i2").astype(np.float64)  # 44: the header.
    rate = int.from_bytes(sound[24:28], "little")
    spectrum = np.fft.rfft(x)  # Resampled by leaving out what is above 8 kHz.
    count = len(x) * RATE // rate
    x = np.fft.irfft(spectrum[:count // 2 + 1], count)
    x /= np.abs(x).max()
    block = RATE // 100
    loud = [i for i in range(0, len(x), block) if np.abs(x[i:i + block]).max() > 0.03]
    return x[loud[0]:loud[-1] + block]


def colored(random, count, slope):
    """Noise of power 1 whose power falls with frequency^slope: white, pink, brown."""
    spectrum = np.fft.rfft(random.standard_normal(count))
    spectrum[1:] /= np.arange(1, len(spectrum)) ** (slope / 2)
    spectrum[0] = 0
    noise = np.fft.irfft(spectrum, count)
    return noise / noise.std()


def hum(random, count):
    """Mains and machines: harmonics of one frequency, and some white noise."""
    base, t = random.uniform(45, 130), np.arange(count) / RATE
    noise = sum(random.uniform(0, 1) / k * np.sin(2 * np.pi * (base * k * t + random.uniform())) for k in range(1, 20))
    noise += 0.1 * random.standard_normal(count)
    return noise / noise.std()


def babble(random, count, speech):
    """Six talkers at once."""
    noise = np.zeros(count)
    for _ in range(6):
        at = 0
        while at < count:
            x = speech[random.integers(len(speech))]
            x = x[:count - at]
            noise[at:at + len(x)] += x
            at += len(x)
    return noise / noise.std()


def background(random, count, speech):
    kind = random.integers(6)
    if kind < 3:
        return colored(random, count, kind)
    return hum(random, count) if kind == 3 else babble(random, count, speech) if kind == 4 else np.zeros(count)


def utterances(split, random):
    """(label, text, voice) in random order: each voice says each keyword `rounds` times, and as many other words."""
    plan = []
    for voice in split.voices:
        for _ in range(split.rounds):
            others = random.choice(split.others, len(KEYWORDS))
            # Now and then two words in a row.
            others = [f"{word} {random.choice(split.others)}" if random.uniform() < 0.2 else str(word) for word in others]
            plan += [(word, word, voice) for word in KEYWORDS] + [("unknown", word, voice) for word in others]
    return [plan[i] for i in random.permutation(len(plan))]


def scene(random, clips):
    """Clips one after the other in one background: samples, and where each clip begins and ends."""
    parts, spans, at = [], [], 0
    for clip in clips:
        gap = int(random.uniform(0.4, 1.2) * RATE)
        parts += [np.zeros(gap), clip * 10 ** (random.uniform(-4, 0) / 20)]
        spans.append((at + gap, at + gap + len(clip)))
        at += gap + len(clip)
    parts.append(np.zeros(RATE))
    return np.concatenate(parts), spans


def mix(random, clips, speech):
    """A scene with its background and loudness, in int16, and where each clip begins and ends."""
    x, spans = scene(random, clips)
    ratio = 10 ** (-random.uniform(5, 30) / 20)  # Noise to speech, whose rms is about 0.12 of its peak.
    x = x + background(random, len(x), speech) * ratio * 0.12 + random.standard_normal(len(x)) * 1e-4
    x *= 10 ** (random.uniform(-24, -2) / 20) / max(1, np.abs(x).max())
    return np.rint(x * 32767).astype("<i2"), spans


def word(label, text, voice, span, at=0):
    return {"label": label, "text": text, "voice": voice, "begin": at + span[0], "end": at + span[1]}


def sample():
    """A few seconds of a held-out voice."""
    random, voice = np.random.default_rng(3), "f5"
    texts = ("yes", "coffee", "left", "stop")
    clips = [say(text, "en-gb+" + voice, 150, 50) for text in texts]
    x, spans = mix(random, clips, clips)
    return x, [word(text if text in KEYWORDS else "unknown", text, voice, span) for text, span in zip(texts, spans)]


def make(split):
    """The stream in int16, and its words."""
    random = np.random.default_rng(split.seed)
    plan = utterances(split, random)
    said = []
    for label, text, voice in plan:
        accent = ACCENTS[random.integers(len(ACCENTS))]
        said.append(say(text, f"{accent}+{voice}", random.integers(110, 230), random.integers(25, 75)))
    speech = [x for x, (label, _, _) in zip(said, plan) if label == "unknown"]
    stream, words, at = [], [], 0
    for first in range(0, len(plan), 8):
        x, spans = mix(random, said[first:first + 8], speech)
        words += [word(*utterance, span, at) for utterance, span in zip(plan[first:first + 8], spans)]
        stream.append(x)
        at += len(x)
    return np.concatenate(stream), words


def write(stream, words, path):
    """The WAV file at `path` and the words beside it."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(stream.tobytes())
    path.with_suffix(".json").write_text("[\n" + ",\n".join(map(json.dumps, words)) + "\n]\n")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("split", choices=[*SPLITS, "sample"])
    args.add_argument("wav", type=pathlib.Path)
    args = args.parse_args()
    stream, words = sample() if args.split == "sample" else make(SPLITS[args.split])
    write(stream, words, args.wav)
    print(f"{args.wav}: {len(words)} words in {len(stream) / RATE:.0f} s")


if __name__ == "__main__":
    main()
