#!/usr/bin/python3
"""Writes audio.onnx: a small keyword net on 49 x 10 features, with random weights. It is for timing, not for accuracy."""
import pathlib

import torch
from torch import nn


def main():
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(1, 8, (10, 4), stride=(2, 2), padding=(4, 1)), nn.ReLU(),
                        nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU(), nn.Conv2d(8, 12, 1), nn.ReLU(),
                        nn.AvgPool2d((24, 5)), nn.Flatten(), nn.Linear(12, 4), nn.Softmax(1)).eval()
    path = pathlib.Path(__file__).parent / "audio.onnx"
    torch.onnx.export(net, torch.zeros(1, 1, 49, 10), str(path), opset_version=13, input_names=["features"],
                      output_names=["probabilities"])
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
