// conv2d
