// reshape, concatenation, slice: no kernels; the view elimination and importers are tested in tests/converter.
