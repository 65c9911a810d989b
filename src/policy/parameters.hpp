// The parameters of one policy, as given in the text after the colon of HEDDLE_POLICY.
#pragma once

#include <string_view>
#include <vector>

#include <heddle/policy.hpp>

namespace heddle::policy {

struct parameter {
  std::string_view name;
  std::string_view value;
};

class given_parameters final : public parameters {
 public:
  given_parameters(std::string_view policy, std::vector<parameter> given) : policy_(policy), given_(std::move(given)) {}

  unsigned choice(std::string_view name, std::string_view words) override;
  double number(std::string_view name, double standard, double least, double most) override;
  // The text as it stands, which can contain no comma; "" if not given.
  std::string_view text(std::string_view name);
  // Called after the last parameter was taken. Throws std::invalid_argument if a parameter was not taken.
  void finish() const;

 private:
  const parameter* take(std::string_view name);

  const std::string_view policy_;
  std::vector<parameter> given_;
  std::vector<std::string_view> known_;
};

// Takes a text parameter of one of heddle's own policies. Plugins, which see only `parameters`, have no texts.
inline std::string_view text_in(parameters& given, std::string_view name) {
  return dynamic_cast<given_parameters&>(given).text(name);
}

}  // namespace heddle::policy
