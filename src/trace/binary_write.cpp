#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "trace/binary.hpp"
#include "trace/legend.hpp"

namespace heddle::trace {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian and copied from memory");

class writer {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_integral_v<T>);
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void text(std::string_view s) {
    number(static_cast<std::uint64_t>(s.size()));
    out_ += s;
  }

  // Neighbours are alike, so most records take five to eight bytes.
  void records(std::span<const record> all) {
    number(static_cast<std::uint64_t>(all.size()));
    std::uint64_t ns = 0;
    std::array<last_words, event_count + 1> last{};
    for (const record& r : all) {
      last_words& before = last[static_cast<std::size_t>(r.event)];
      packed(static_cast<std::uint64_t>(r.event));
      packed(r.ns - std::exchange(ns, r.ns));
      packed(r.arg);
      packed(folded(r.a - std::exchange(before.a, r.a)));
      packed(folded(r.b - std::exchange(before.b, r.b)));
    }
  }

  const std::string& written() const { return out_; }

 private:
  // LEB128: seven bits a byte, the lowest first.
  void packed(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }

  std::string out_;
};

}  // namespace

std::uint64_t checksum(std::string_view bytes) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t part = 0;
    std::memcpy(&part, bytes.data() + i, std::min(sizeof part, bytes.size() - i));
    sum = (sum ^ part) * 0x100000001b3;
    // Words, unlike bytes, would leave their high bits out of the low half.
    sum ^= sum >> 32;
  }
  return sum;
}

std::string encode_binary(const recording& what) {
  writer body;
  body.text(what.program);
  body.text(what.machine);
  body.text(what.policy);
  body.number(what.end_ns);
  body.number(static_cast<std::uint32_t>(what.attributes.size()));
  for (const auto& [name, value] : what.attributes) {
    body.text(name);
    body.text(value);
  }

  body.number(static_cast<std::uint32_t>(event_count));
  for (const event_info& e : std::span(detail::events).subspan(1)) {
    body.number(static_cast<std::uint16_t>(e.id));
    body.text(e.name);
    body.text(legend_fields(e));
    body.text(legend_effect(e));
    body.text(e.meaning);
  }
  body.number(static_cast<std::uint32_t>(what.texts.size()));
  for (const std::string& t : what.texts) body.text(t);
  body.number(static_cast<std::uint32_t>(what.symbols.size()));
  for (const auto& [address, name] : what.symbols) {
    body.number(address);
    body.text(name);
  }
  body.number(static_cast<std::uint32_t>(what.places.size()));
  for (const auto& [address, at] : what.places) {
    body.number(address);
    body.text(at.module);
    body.number(at.offset);
  }
  body.number(static_cast<std::uint32_t>(what.workers.size()));
  for (const worker_log& log : what.workers) {
    body.number(log.worker);
    body.text(log.place);
    body.number(log.written);
    body.number(log.lost);
    body.records(log.records);
  }
  const std::string& payload = body.written();

  writer head;
  std::string out(binary_magic);
  head.number(binary_version);
  head.number(std::uint32_t{0});
  head.number(static_cast<std::uint64_t>(payload.size()));
  head.number(checksum(payload));
  out += head.written();
  out += payload;
  return out;
}

}  // namespace heddle::trace
