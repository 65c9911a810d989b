#include "tools/trace/plain_name.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace heddle::trace {
namespace {

void drop(std::string& text, std::string_view what) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.erase(at, what.size());
}

// Follows the brackets of a demangled name. The signs of "->" and of operators such as "operator<" are no brackets.
class brackets {
 public:
  explicit brackets(std::string_view text) : text_(text) {}

  // Must be called for each place in turn. Returns the depth around the place: a bracket is outside of itself.
  int at(std::size_t place) {
    const char c = text_[place];
    const bool sign = c == '<' || c == '>';
    if (sign && (text_.substr(0, place).ends_with("operator") || (place > 0 && text_[place - 1] == '-'))) return depth_;
    if (c == '<' || c == '(' || c == '{') return depth_++;
    if (c == '>' || c == ')' || c == '}') return --depth_;
    return depth_;
  }

 private:
  std::string_view text_;
  int depth_ = 0;
};

// Returns the end of the bracket that opens at `open`.
std::size_t partner(std::string_view text, std::size_t open) {
  brackets depth(text.substr(open));
  for (std::size_t i = 0; i < text.size() - open; ++i) {
    if (depth.at(i) == 0 && i > 0) return open + i;
  }
  return text.size();
}

// Leaves out the return type, which stands before the names of function templates.
std::string_view without_return_type(std::string_view text) {
  brackets depth(text);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth.at(i) != 0) continue;
    if (text[i] == '(') break;
    if (text[i] == ' ') begin = i + 1;
  }
  return text.substr(begin);
}

bool belongs_to_a_library(std::string_view name) {
  return name.starts_with("heddle::") || name.starts_with("std::") || name.starts_with("__gnu_cxx::");
}

bool names_a_closure(std::string_view name) {
  return name.find("{lambda") != std::string_view::npos || name.find("'lambda") != std::string_view::npos ||
         name.find("$_") != std::string_view::npos;
}

// Fundamental types, numbers, and pointers to functions.
bool names_no_class(std::string_view name) {
  constexpr std::string_view fundamental[] = {"bool",   "char",     "short",  "int",  "long",  "float",   "void",
                                              "double", "unsigned", "signed", "true", "false", "decltype"};
  const auto begins = [name](std::string_view word) {
    return name.starts_with(word) && (name.size() == word.size() || name[word.size()] == ' ');
  };
  return name.empty() || name.front() == '(' || (name.front() >= '0' && name.front() <= '9') || name.ends_with('*') ||
         name.find("(*)") != std::string_view::npos || name.find("(&)") != std::string_view::npos ||
         std::any_of(std::begin(fundamental), std::end(fundamental), begins);
}

std::string_view trimmed(std::string_view argument) {
  while (!argument.empty() && argument.front() == ' ') argument.remove_prefix(1);
  while (!argument.empty() && (argument.back() == '&' || argument.back() == ' ')) argument.remove_suffix(1);
  constexpr std::string_view unchanging = " const";
  if (argument.ends_with(unchanging) && !argument.ends_with(") const")) argument.remove_suffix(unchanging.size());
  return argument;
}

std::vector<std::string_view> template_arguments(std::string_view name) {
  std::vector<std::string_view> found;
  const std::size_t open = name.find('<');
  if (open == std::string_view::npos) return found;
  const std::string_view all = name.substr(open + 1, partner(name, open) - open - 1);
  brackets depth(all);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (depth.at(i) != 0 || all[i] != ',') continue;
    found.push_back(trimmed(all.substr(begin, i - begin)));
    begin = i + 1;
  }
  found.push_back(trimmed(all.substr(begin)));
  return found;
}

// Returns what the author of the program gave to a template of a library: a closure if there is one, else a class.
std::string_view given_by_the_user(std::string_view name, bool closure) {
  for (const std::string_view argument : template_arguments(name)) {
    if (belongs_to_a_library(without_return_type(argument))) {
      const std::string_view inner = given_by_the_user(without_return_type(argument), closure);
      if (!inner.empty()) return inner;
    } else if (closure ? names_a_closure(argument) : !names_no_class(argument)) {
      return argument;
    }
  }
  return {};
}

// "f()::{lambda()#1}::operator()() const" is the closure "f()::{lambda()#1}".
void drop_call_operators(std::string& name) {
  constexpr std::string_view call = "::operator()", unchanging = " const";
  for (std::size_t at = 0; (at = name.find(call, at)) != std::string::npos;) {
    std::size_t end = at + call.size();
    if (end < name.size() && name[end] == '<') end = partner(name, end) + 1;
    if (end < name.size() && name[end] == '(') end = partner(name, end) + 1;
    if (std::string_view(name).substr(std::min(end, name.size())).starts_with(unchanging)) end += unchanging.size();
    name.erase(at, std::min(end, name.size()) - at);
  }
}

}  // namespace

std::string plain_name(std::string_view symbol) {
  std::string name(symbol);
  drop(name, "(anonymous namespace)::");
  const std::string_view bare = without_return_type(name);
  if (!belongs_to_a_library(bare)) {
    drop_call_operators(name);
    return name;
  }
  const auto names = [bare](std::string_view part) { return bare.find(part) != std::string_view::npos; };
  std::string_view user = given_by_the_user(bare, true);
  if (user.empty()) user = given_by_the_user(bare, false);
  const bool loop = names("::loop_tree<") || names("::loop_chunks::") || names("::loop_ranges::");
  std::string result = loop ? user.empty() ? "loop" : "loop in " : "";
  result += user.empty() && !loop ? bare : user;
  drop_call_operators(result);
  drop(result, "heddle::detail::");
  while (!result.empty() && (result.back() == '&' || result.back() == ' ')) result.pop_back();
  return result;
}

}  // namespace heddle::trace
