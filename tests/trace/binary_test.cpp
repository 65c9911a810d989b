#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "hand_made.hpp"
#include "tools/trace/reading.hpp"
#include "trace/binary.hpp"

namespace heddle::trace {
namespace binary_test {
namespace {

using ::testing::HasSubstr;

recording every_event() {
  recorder rec(2, test::options());
  rec.place(0, "pu:0");
  EXPECT_EQ(rec.text("first"), 0u);
  EXPECT_EQ(rec.text("second \"text\""), 1u);
  test::emit_every_event(rec.of(0));
  test::emit_every_event(rec.foreign());
  recording r = rec.collect();
  r.symbols[0x1234] = "weave(int)";
  return r;
}

std::string failure(const std::string& bytes) {
  try {
    (void)decode_binary(bytes);
  } catch (const trace_error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    return e.what();
  }
  return "no error";
}

// The payload may be changed at will; its checksum is made right again.
std::string with_payload(std::string bytes, const std::function<void(std::string&)>& change) {
  std::string payload = bytes.substr(32);
  change(payload);
  const std::uint64_t size = payload.size(), sum = checksum(payload);
  bytes.resize(32);
  std::memcpy(bytes.data() + 16, &size, 8);
  std::memcpy(bytes.data() + 24, &sum, 8);
  return bytes + payload;
}

void replace(std::string& in, const std::string& from, const std::string& to) {
  const std::size_t at = in.find(from);
  ASSERT_NE(at, std::string::npos);
  in.replace(at, from.size(), to);
}

TEST(binary, every_event_survives_the_round_trip) {
  const recording in = every_event();
  const recording out = decode_binary(encode_binary(in));
  EXPECT_EQ(out.program, in.program);
  EXPECT_EQ(out.machine, in.machine);
  EXPECT_EQ(out.policy, in.policy);
  EXPECT_EQ(out.end_ns, in.end_ns);
  EXPECT_EQ(out.texts, in.texts);
  EXPECT_EQ(out.symbols, in.symbols);
  EXPECT_TRUE(out.unknown.empty());
  ASSERT_EQ(out.workers.size(), 3u);
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_EQ(out.workers[w].worker, in.workers[w].worker);
    EXPECT_EQ(out.workers[w].place, in.workers[w].place);
    EXPECT_EQ(out.workers[w].written, in.workers[w].written);
    EXPECT_EQ(out.workers[w].lost, in.workers[w].lost);
    EXPECT_EQ(out.workers[w].records, in.workers[w].records);
  }
  ASSERT_EQ(out.workers[0].records.size(), event_count);
  for (std::size_t i = 0; i < event_count; ++i) {
    const record& r = out.workers[0].records[i];
    EXPECT_EQ(static_cast<std::size_t>(r.event), i + 1);
    EXPECT_EQ(r.ns, i + 1);
    const std::uint64_t words[3] = {r.arg, r.a, r.b};
    std::size_t n = 0;
    for (std::size_t slot = 0; slot < 3; ++slot) {
      const unit kind = info(r.event).fields[slot].kind;
      std::uint64_t want = kind == unit::none ? 0 : test::field_value(n++);
      if (kind == unit::work) want = std::bit_cast<std::uint64_t>(static_cast<double>(want));
      EXPECT_EQ(words[slot], want) << info(r.event).name << " slot " << slot;
    }
  }
}

TEST(binary, lost_records_are_told) {
  recorder rec(1, test::options(8));
  for (int i = 0; i < 20; ++i) test::at<event::task_end>(i, rec.of(0), i);
  const recording out = decode_binary(encode_binary(rec.collect()));
  EXPECT_EQ(out.workers.at(0).written, 20u);
  EXPECT_EQ(out.workers.at(0).lost, 12u);
  EXPECT_EQ(out.workers.at(0).records.size(), 8u);
}

TEST(binary, files_that_are_no_trace) {
  EXPECT_THAT(failure(""), HasSubstr("empty file"));
  EXPECT_THAT(failure("hello, world"), HasSubstr("not a heddle trace"));
  EXPECT_THAT(failure("\x7f"
                      "ELF"),
              HasSubstr("not a heddle trace"));
  EXPECT_THAT(failure("{\"traceEvents\":[]}"), HasSubstr("Chrome"));
}

TEST(binary, every_truncation_is_told) {
  const std::string whole = encode_binary(every_event());
  for (std::size_t n = 1; n < whole.size(); ++n) ASSERT_THAT(failure(whole.substr(0, n)), HasSubstr("truncated")) << n;
  EXPECT_THAT(failure(whole + "x"), HasSubstr("too many"));
}

TEST(binary, every_damaged_byte_is_told) {
  const std::string whole = encode_binary(every_event());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    if (n >= 12 && n < 16) continue;  // reserved
    std::string bad = whole;
    bad[n] = static_cast<char>(bad[n] ^ 0x10);
    ASSERT_NE(failure(bad), "no error") << n;
  }
}

TEST(binary, another_format_version_is_named) {
  std::string bytes = encode_binary(every_event());
  bytes[8] = 7;
  EXPECT_THAT(failure(bytes), HasSubstr("trace format 7, this heddle reads formats up to 4"));
}

// Version 1 had no attributes, version 2 no places, and version 3 records of 32 bytes.
TEST(binary, older_formats_are_read) {
  recording what = every_event();
  what.attributes.clear();
  what.places.clear();
  recording head = what;
  head.workers.clear();
  for (const unsigned version : {1u, 2u, 3u}) {
    std::string payload = encode_binary(head).substr(32);
    payload.resize(payload.size() - 4);                   // the number of workers
    if (version < 3) payload.resize(payload.size() - 4);  // the number of places: none
    if (version == 1) payload.erase(3 * 8 + what.program.size() + what.machine.size() + what.policy.size() + 8, 4);
    std::string bytes(binary_magic);
    const auto put = [](std::string& to, std::uint64_t value, std::size_t width) {
      to.append(reinterpret_cast<const char*>(&value), width);
    };
    put(payload, what.workers.size(), 4);
    for (const worker_log& log : what.workers) {
      put(payload, log.worker, 2);
      put(payload, log.place.size(), 8);
      payload += log.place;
      for (const std::uint64_t count : {log.written, log.lost, std::uint64_t{log.records.size()}})
        put(payload, count, 8);
      payload.append(reinterpret_cast<const char*>(log.records.data()), log.records.size() * sizeof(record));
    }
    put(bytes, version, 4);
    put(bytes, 0, 4);
    put(bytes, payload.size(), 8);
    put(bytes, checksum(payload), 8);
    const recording out = decode_binary(bytes + payload);
    ASSERT_EQ(out.workers.size(), what.workers.size());
    for (std::size_t w = 0; w < out.workers.size(); ++w) EXPECT_EQ(out.workers[w].records, what.workers[w].records);
  }
}

TEST(binary, words_of_any_size_come_back) {
  recorder rec(1, test::options());
  const std::uint64_t words[] = {0, ~std::uint64_t{0}, 1, std::uint64_t{1} << 63, 0x7f4726dffa50, 0x7f, 0x80};
  for (const std::uint64_t a : words) {
    for (const std::uint64_t b : words) test::at<event::lock_passed>(1000, rec.of(0), a, b);
  }
  const recording in = rec.collect();
  EXPECT_EQ(decode_binary(encode_binary(in)).workers.at(0).records, in.workers.at(0).records);
}

// A worker that finds nothing writes two events in each microsecond or two.
TEST(binary, attempts_in_vain_take_six_bytes_each) {
  recorder rec(1, test::options(1 << 12));
  constexpr std::uint64_t attempts = 1000;
  for (std::uint64_t i = 0; i < attempts; ++i) {
    test::at<event::steal_attempt>(2000 * i, rec.of(0), 1u);
    test::at<event::steal_fail>(2000 * i + 900, rec.of(0), 1u);
  }
  recording what = rec.collect();
  const std::size_t whole = encode_binary(what).size();
  what.workers.at(0).records.clear();
  EXPECT_LE(whole - encode_binary(what).size(), 2 * attempts * 6);
}

TEST(binary, places_come_back) {
  recording what = every_event();
  what.places[0x1000] = {"/usr/lib/libloom.so.1", 0x234};
  what.places[0x2000] = {"", 0};
  EXPECT_EQ(decode_binary(encode_binary(what)).places, what.places);
}

TEST(binary, attributes_come_back) {
  recording what = every_event();
  what.attributes["clock"] = "virtual";
  what.attributes["something else"] = "";
  EXPECT_EQ(decode_binary(encode_binary(what)).attributes, what.attributes);
}

// Damage that the checksum does not see (a faulty writer): an error or a recording, never a crash
// or absurd memory.
TEST(binary, any_payload_is_survived) {
  const std::string whole = encode_binary(every_event());
  std::size_t refused = 0;
  for (std::size_t n = 0; n + 32 < whole.size(); ++n) {
    for (const char value : {'\x00', '\x7f', '\xff'}) {
      refused += failure(with_payload(whole, [&](std::string& p) { p[n] = value; })) != "no error";
    }
  }
  EXPECT_GT(refused, whole.size() / 2);
  for (std::size_t n = 0; n + 32 < whole.size(); n += 7) {
    EXPECT_THAT(failure(with_payload(whole, [&](std::string& p) { p.resize(n); })), HasSubstr("damaged trace"));
  }
}

TEST(binary, events_are_read_by_name) {
  const std::string whole = encode_binary(every_event());
  // A trace of a version where task_end and task_exit are two things.
  const recording renamed =
      decode_binary(with_payload(whole, [](std::string& p) { replace(p, "task_end", "task_fin"); }));
  EXPECT_EQ(renamed.unknown, (std::map<std::string, std::uint64_t>{{"task_fin", 2}}));
  EXPECT_EQ(renamed.workers.at(0).records.size(), event_count - 1);
  // Same name, other fields: its bits cannot be understood either.
  const recording changed =
      decode_binary(with_payload(whole, [](std::string& p) { replace(p, "victim:worker", "victim:thread"); }));
  EXPECT_EQ(changed.unknown.size(), 1u);
  // Numbers of two events exchanged in the legend and in the records.
  const recording swapped = decode_binary(with_payload(whole, [](std::string& p) {
    const auto number = [&](const char* name) { return p.find(name) - 8 - 2; };
    std::swap(p[number("fork")], p[number("loop_end")]);
  }));
  std::size_t forks = 0;
  for (const record& r : swapped.workers.at(0).records)
    forks += r.event == event::fork && r.ns == static_cast<std::uint64_t>(event::loop_end);
  EXPECT_EQ(forks, 1u);
}

}  // namespace
}  // namespace binary_test
}  // namespace heddle::trace
