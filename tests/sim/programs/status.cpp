// Ends with the status that a deadlock has, too.
#include <heddle/parallel_invoke.hpp>

int main() {
  int left = 0, right = 0;
  heddle::parallel_invoke([&left] { left = 1; }, [&right] { right = 2; });
  return left + right;
}
