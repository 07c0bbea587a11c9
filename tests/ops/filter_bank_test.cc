// filter_bank
#include <gtest/gtest.h>
