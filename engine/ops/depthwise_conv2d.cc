// depthwise_conv2d
