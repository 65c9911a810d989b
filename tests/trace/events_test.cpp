#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "hand_made.hpp"
#include "trace/legend.hpp"

namespace heddle::trace {
namespace events_test {
namespace {

TEST(events, table_and_enumeration_agree) {
  std::set<std::string_view> names;
  for (std::size_t i = 1; i <= event_count; ++i) {
    const event_info& e = detail::events[i];
    EXPECT_EQ(static_cast<std::size_t>(e.id), i) << e.name;
    EXPECT_TRUE(names.insert(e.name).second) << e.name;
    EXPECT_FALSE(e.meaning.empty()) << e.name;
    EXPECT_LE(arity(e.id), 3u);
    // The thread's coming and going need its id in slot a.
    const bool moves = e.does.what == action::resume || e.does.what == action::suspend;
    EXPECT_TRUE(!moves || e.fields[1].kind == unit::thread) << e.name;
  }
  EXPECT_TRUE(names.contains("steal_success"));
}

TEST(events, every_span_can_be_opened_and_closed) {
  std::set<span> opened, closed;
  for (const event_info& e : detail::events) {
    if (e.does.what == action::open || e.does.what == action::resume) opened.insert(e.does.target);
    if (e.does.what == action::close || e.does.what == action::suspend) closed.insert(e.does.target);
  }
  EXPECT_EQ(opened.size(), span_count);
  EXPECT_EQ(closed, opened);
}

TEST(events, emit_puts_each_field_into_its_slot) {
  ring r(64, 5, test::hand_clock);
  test::time_now = 77;
  const int function = 0;
  emit<event::task_begin>(&r, 3, std::uint64_t{0x1234567890}, &function);
  emit<event::steal_attempt>(&r, 9);
  emit<event::thread_switch_in>(&r, std::uint64_t{11});
  emit<event::group_begin>(&r, 6, 2.5, 4096);
  emit<event::thread_park>(&r, park_reason::ended, 12);
  const std::vector<record> got = r.snapshot().records;
  ASSERT_EQ(got.size(), 5u);
  EXPECT_EQ(got[0], (record{77, event::task_begin, 5, 3, 0x1234567890, reinterpret_cast<std::uintptr_t>(&function)}));
  EXPECT_EQ(got[1], (record{77, event::steal_attempt, 5, 9, 0, 0}));
  EXPECT_EQ(got[2], (record{77, event::thread_switch_in, 5, 0, 11, 0}));
  EXPECT_EQ(got[3], (record{77, event::group_begin, 5, 6, std::bit_cast<std::uint64_t>(2.5), 4096}));
  EXPECT_EQ(got[4], (record{77, event::thread_park, 5, static_cast<std::uint32_t>(park_reason::ended), 12, 0}));
}

TEST(events, emit_without_a_ring_does_nothing) { test::emit_every_event(nullptr); }

TEST(events, legend_names_every_event_span_and_field) {
  for (const std::string& text : {legend_text(), legend_markdown()}) {
    for (std::size_t i = 1; i <= event_count; ++i) {
      EXPECT_NE(text.find(detail::events[i].name), std::string::npos) << detail::events[i].name;
      for (const field_info& f : detail::events[i].fields)
        EXPECT_NE(text.find(f.meaning), std::string::npos) << f.meaning;
    }
    for (const span_info& s : detail::spans) EXPECT_NE(text.find(s.meaning), std::string::npos) << s.name;
  }
}

TEST(events, guide_holds_the_generated_table) {
  std::ifstream in(HEDDLE_SOURCE_DIR "/docs/guide/tracing.md");
  std::stringstream guide;
  guide << in.rdbuf();
  EXPECT_NE(guide.str().find(legend_markdown()), std::string::npos)
      << "docs/guide/tracing.md is behind events.def; put the output of `heddle report "
         "--events=markdown` into it:\n"
      << legend_markdown();
}

}  // namespace
}  // namespace events_test
}  // namespace heddle::trace
