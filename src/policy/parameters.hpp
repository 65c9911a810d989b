// The parameters of one policy. Each is taken once, by its name. One that is left over is an error, which names
// those that there are.
#pragma once

#include <string_view>
#include <vector>

#include "policy/policy.hpp"

namespace heddle::policy {

class parameters {
 public:
  parameters(std::string_view policy, const std::vector<parameter>& given) : policy_(policy), given_(given) {}

  // One of `words`, separated by '|'; the first one when not given. Returns its place. Throws std::invalid_argument.
  unsigned choice(std::string_view name, std::string_view words);
  // A number in [least, most]. Throws std::invalid_argument.
  double number(std::string_view name, double standard, double least, double most);
  // After the last of them: throws std::invalid_argument when a parameter was not taken.
  void finish() const;

 private:
  const parameter* take(std::string_view name);

  const std::string_view policy_;
  std::vector<parameter> given_;
  std::vector<std::string_view> known_;
};

}  // namespace heddle::policy
