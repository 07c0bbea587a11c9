// quantize
