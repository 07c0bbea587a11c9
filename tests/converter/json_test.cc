// JSON from outside: what is read, and what is refused with its reason.
#include "converter/base/json.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string Members(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
  return text + "}";
}

TEST(Json, ObjectsKeepTheirOrder) {
  std::string problem;
  const auto json = ParseJson(R"({"b": [1, {"c": 2.5}], "a": null})", problem);
  ASSERT_TRUE(json) << problem;
  EXPECT_EQ(json->dump(), R"({"b":[1,{"c":2.5}],"a":null})");
}

TEST(Json, WhatIsRefusedIsNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "line 1 is no JSON"},
      {"{\n\"a\": 1,\n}", "line 3 is no JSON"},
      {"[1] 2", "line 1 is no JSON"},
      {"\"\xff\"", "line 1 is no JSON"},
      {"[1, 1e999]", "has a number that is larger than a double holds"},
      {Repeated("[", 66) + Repeated("]", 66), "is nested more than 64 deep"},
      {Repeated("{\"a\":", 66) + "0" + Repeated("}", 66), "is nested more than 64 deep"},
      {Repeated("[", 1000000), "line 1 is no JSON"},
      {"[" + Members(3) + "," + Members(65537) + "]", "has an object of more than 65536 members"},
  };
  for (const auto& [text, expected] : cases) {
    std::string problem;
    EXPECT_FALSE(ParseJson(text, problem));
    EXPECT_EQ(problem, expected) << text.substr(0, 80);
  }
}

TEST(Json, WhatIsAtALimitIsRead) {
  for (const std::string& text :
       {Repeated("[", 64) + Repeated("]", 64), "[" + Members(65536) + "," + Members(9) + "]"}) {
    std::string problem;
    EXPECT_TRUE(ParseJson(text, problem)) << problem;
  }
}

}  // namespace
}  // namespace takt
