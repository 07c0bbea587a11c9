// fft
#include <gtest/gtest.h>
