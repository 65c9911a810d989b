#include "policy/parameters.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace heddle::policy {

const parameter* given_parameters::take(std::string_view name) {
  known_.push_back(name);
  for (const parameter& p : given_) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

unsigned given_parameters::choice(std::string_view name, std::string_view words) {
  const parameter* p = take(name);
  if (p == nullptr) return 0;
  std::string_view rest = words;
  for (unsigned place = 0;; ++place) {
    const std::size_t bar = rest.find('|');
    if (rest.substr(0, bar) == p->value) return place;
    if (bar == std::string_view::npos) break;
    rest = rest.substr(bar + 1);
  }
  throw std::invalid_argument("policy " + std::string(policy_) + ": " + std::string(name) + "=" +
                              std::string(p->value) + " is not one of " + std::string(words));
}

double given_parameters::number(std::string_view name, double standard, double least, double most) {
  const parameter* p = take(name);
  if (p == nullptr) return standard;
  const std::string text(p->value);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= most)) {
    throw std::invalid_argument("policy " + std::string(policy_) + ": " + std::string(name) + "=" + text +
                                " is not a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::string_view given_parameters::text(std::string_view name) {
  const parameter* p = take(name);
  return p == nullptr ? std::string_view() : p->value;
}

void given_parameters::finish() const {
  for (const parameter& p : given_) {
    bool taken = false;
    for (const std::string_view name : known_) taken = taken || p.name == name;
    if (taken) continue;
    std::string message = "policy " + std::string(policy_) + " has no parameter '" + std::string(p.name) + "'; it has ";
    if (known_.empty()) message += "none";
    for (std::size_t i = 0; i < known_.size(); ++i) message += (i == 0 ? "" : ", ") + std::string(known_[i]);
    throw std::invalid_argument(message);
  }
}

}  // namespace heddle::policy
