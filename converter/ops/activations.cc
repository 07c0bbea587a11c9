// activations
