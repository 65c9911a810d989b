// No ticks on simulated processors: threads run until they reach a scheduling point.
#include "platform/platform.hpp"

namespace heddle::platform {

int kernel_thread_id() noexcept { return 0; }
bool listen_for_ticks(void (*)(void*, bool) noexcept) noexcept { return false; }
void send_tick(int) noexcept {}
bool make(tick_timer&, void*) noexcept { return false; }
void set(const tick_timer&, nanoseconds, nanoseconds) noexcept {}
void drop(tick_timer&) noexcept {}
void wait_for_tick(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept { wait_on(word, expected); }

const char* why_no_own_tls() noexcept { return "simulated kernel threads share one block"; }
own_tls* make_own_tls() noexcept { return nullptr; }
void begin_own_tls(own_tls&) noexcept {}
void end_own_tls(own_tls&) noexcept {}

}  // namespace heddle::platform
