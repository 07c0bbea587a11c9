// signal
#include <gtest/gtest.h>
