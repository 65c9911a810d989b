// Headers of others that most sources of the library reach, parsed once for all of them (heddle_precompile in
// ../heddle_build.cmake). Every source includes what it uses all the same: the preset audit builds without.
// What a header leaves to be instantiated, every source instantiates anew: {fmt} takes a fifth of a second of each, so
// it is in text.hpp, for those that write texts.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
