"""Log-mel features in integers, as signal operators of TFLite Micro: 20 ms of new samples in, 40 int8 features out.

frames of 32 ms (the framer remembers) -> Hann window -> scaled up to 16 bits -> FFT -> energy of each bin -> mel filters ->
square root, scaled down again -> logarithm -> int8
"""
import numpy as np

RATE = 16000
HOP, FRAME = 320, 512
CHANNELS, LOW_HZ, HIGH_HZ = 40, 80, 7600
LOG_SCALE, LOG_BITS = 64, 3      # The logarithm is 64 * ln(8 * root).
MOST = 15.3                      # ln(8 * root) of full scale.
SCALE, ZERO = MOST / 255, -128   # Of the features.


def mel(hz):
    return 1127 * np.log1p(hz / 700)


def filters():
    """Triangles over the mel scale, in 12 bits: for each of the CHANNELS + 1 spans between neighbouring centres its first
    bin, first weight and width; and the weights, falling (of the channel before the span) and rising (of that behind it)."""
    edges = np.linspace(mel(LOW_HZ), mel(HIGH_HZ), CHANNELS + 2)
    bins = mel(np.arange(FRAME // 2 + 1) * RATE / FRAME)
    span = np.searchsorted(edges, bins, side="right") - 1
    used = np.flatnonzero((span >= 0) & (span <= CHANNELS))
    first = np.searchsorted(span[used], np.arange(CHANNELS + 1))
    width = np.bincount(span[used], minlength=CHANNELS + 1)
    left, right = edges[span[used]], edges[span[used] + 1]
    falling = np.rint(4096 * (right - bins[used]) / (right - left)).astype(np.int16)
    return [v.astype(np.int16) for v in (falling, 4096 - falling, used[0] + first, first, width)], used


def add(file):
    """Adds the front end to a tflite_file.File, from "audio" to "features"."""
    (falling, rising, start, first, width), used = filters()
    hann = np.rint(4096 * (0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(FRAME) + 0.5) / FRAME))).astype(np.int16)
    for name, kind, shape in (("audio", "INT16", [HOP]), ("frames", "INT16", [1, FRAME]), ("valid", "BOOL", []),
                              ("frame", "INT16", [FRAME]), ("windowed", "INT16", [FRAME]), ("scaled", "INT16", [FRAME]),
                              ("scale_bits", "INT32", [1]), ("spectrum", "INT16", [FRAME + 2]),
                              ("energy", "UINT32", [FRAME // 2 + 1]), ("mel", "UINT64", [CHANNELS]),
                              ("root", "UINT32", [CHANNELS])):
        file.tensor(name, shape, None, kind=kind)
    file.tensor("log", [CHANNELS], (1 / LOG_SCALE, 0), kind="INT16")
    file.tensor("log_row", [1, CHANNELS], (1 / LOG_SCALE, 0), kind="INT16")
    file.tensor("features", [1, CHANNELS], (SCALE, ZERO))
    for name, data in (("window", hann), ("falling", falling), ("rising", rising), ("start", start), ("first", first),
                       ("width", width), ("frame/shape", np.array([FRAME], np.int32)),
                       ("row/shape", np.array([1, CHANNELS], np.int32))):
        file.tensor(name, data.shape, None, data)

    file.custom("SignalFramer", {"frame_size": FRAME, "frame_step": HOP, "prefill": 1}, ["audio"], ["frames", "valid"])
    file.operator("RESHAPE", 1, ["frames", "frame/shape"], ["frame"], "ReshapeOptions", {"new_shape": [FRAME]})
    file.custom("SignalWindow", {"shift": 12}, ["frame", "window"], ["windowed"])
    file.custom("SignalFftAutoScale", {}, ["windowed"], ["scaled", "scale_bits"])
    file.custom("SignalRfft", {"fft_length": FRAME}, ["scaled"], ["spectrum"])
    file.custom("SignalEnergy", {"start_index": int(used[0]), "end_index": int(used[-1]) + 1}, ["spectrum"], ["energy"])
    file.custom("SignalFilterBank", {"num_channels": CHANNELS}, ["energy", "falling", "rising", "start", "first", "width"], ["mel"])
    file.custom("SignalFilterBankSquareRoot", {}, ["mel", "scale_bits"], ["root"])
    file.custom("SignalFilterBankLog", {"output_scale": LOG_SCALE, "input_correction_bits": LOG_BITS}, ["root"], ["log"])
    file.operator("RESHAPE", 1, ["log", "row/shape"], ["log_row"], "ReshapeOptions", {"new_shape": [1, CHANNELS]})
    file.operator("QUANTIZE", 2, ["log_row"], ["features"])
