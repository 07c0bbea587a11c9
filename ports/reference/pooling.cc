// pooling
