#!/usr/bin/python3
"""Trains the keyword spotter on synthesised speech; writes keyword.tflite.

Needs Debian's espeak-ng, python3-torch and flatbuffers-compiler, and Takt, built. Some ten minutes of one core:
    /usr/bin/python3 samples/keyword/train.py --build build/release

The features come from the plan of the front end itself, run by `listen --outputs`: there is no second front end to train on.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np
import torch
from torch.nn import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import corpus
import front_end
import network
from tflite_file import File

EPOCHS, BATCH, FRAMES, RATE = 40, 64, 100, 4e-3
# Frames from the end of a word: from LISTENED on it is recognised, for RECOGNISED frames; those around that may say either.
LISTENED, RECOGNISED, EITHER = 4, 9, 4
IGNORED = -1


def features(build, work):
    """Speech of the split "train" through the front end: int8 [frames, channels]; and what is said in it."""
    work.mkdir(parents=True, exist_ok=True)
    speech, model, plan, raw = (work / name for name in ("train.wav", "front_end.tflite", "front_end.takt", "train.raw"))
    if not speech.exists():
        corpus.write(*corpus.make(corpus.SPLITS["train"]), speech)
    file = File()
    front_end.add(file)
    file.save(model, "log-mel", ["audio"], ["features"])
    subprocess.run([build / "converter" / "takt", "convert", model, "-o", plan], check=True)
    subprocess.run([build / "samples" / "listen", plan, speech, "--outputs", raw], check=True)
    return np.fromfile(raw, np.int8).reshape(-1, front_end.CHANNELS), json.loads(speech.with_suffix(".json").read_text())


def targets(words, frames):
    """The label that each frame should get, or IGNORED."""
    label = np.zeros(frames, np.int64)
    for word in words:
        end = word["end"] // front_end.HOP
        label[end:end + LISTENED + RECOGNISED + EITHER] = IGNORED
        label[end + LISTENED:end + LISTENED + RECOGNISED] = corpus.LABELS.index(word["label"])
    return label


def altered(x):
    """Other throats and other microphones: features moved by up to two channels, and made louder or softer."""
    shift = np.random.randint(-2, 3, (len(x), 1, 1))
    channel = np.clip(np.arange(front_end.CHANNELS) + shift, 0, front_end.CHANNELS - 1)
    return np.clip(np.take_along_axis(x, channel, 2) + np.random.randint(-20, 21, shift.shape), -128, 127)


def train(net, x, label):
    steps = len(x) // (BATCH * FRAMES)
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, epochs=EPOCHS, steps_per_epoch=steps)
    # There is nothing to hear in most frames.
    weight = torch.tensor([0.3] + [1.0] * (len(corpus.LABELS) - 1))
    window = np.arange(network.CONTEXT + FRAMES)
    for epoch in range(EPOCHS):
        net.train()
        total = 0
        for _ in range(steps):
            at = np.random.randint(0, len(x) - len(window), (BATCH, 1)) + window
            logits = net(network.to_float(altered(x[at])))
            wanted = torch.from_numpy(label[at[:, network.CONTEXT:]])
            loss = F.cross_entropy(logits, wanted, weight, ignore_index=IGNORED)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{EPOCHS}: mean loss {total / steps:.4f}", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build" / "release", help="where Takt is built")
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build" / "keyword", help="for speech and features")
    args = args.parse_args()
    np.random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x, words = features(args.build, args.work)
    net = network.Net(len(corpus.LABELS))
    train(net, x, targets(words, len(x)))
    at = np.random.randint(0, len(x) - 500, (40, 1)) + np.arange(500)
    network.write(net, x[at], HERE / "keyword.tflite")


if __name__ == "__main__":
    main()
