// The variable of <heddle/detail/current.hpp>. It lies on the lowest floor, because every floor with storage or
// contexts of its own must carry it along.
#include <heddle/detail/current.hpp>

constinit thread_local heddle::detail::fork_queue* heddle_current_queue = nullptr;
