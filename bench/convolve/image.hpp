// Grey and coloured images of eight bits a sample in the portable formats of netpbm: PGM (P2, P5) and PPM (P3, P6); and
// one that the program makes itself.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/random.hpp"

namespace heddle::bench {

struct image {
  std::size_t width = 0, height = 0, channels = 1;  // 1 or 3
  std::vector<std::uint8_t> samples;                // row by row, the channels of a point side by side
};

// Every error names the file and the byte.
class netpbm_reader {
 public:
  netpbm_reader(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}

  image read() {
    if (bytes_.size() < 2 || bytes_[0] != 'P' || std::string("2356").find(bytes_[1]) == std::string::npos)
      fail("expected a PGM or PPM file, which begins with P2, P3, P5 or P6");
    const char kind = bytes_[1];
    at_ = 2;
    image i;
    i.channels = kind == '3' || kind == '6' ? 3 : 1;
    i.width = number("the width", most_side);
    i.height = number("the height", most_side);
    const std::size_t brightest = number("the greatest value", 65535);
    if (i.width == 0 || i.height == 0) fail("an image has at least one point");
    if (brightest == 0 || brightest > 255)
      fail("the greatest value is " + std::to_string(brightest) + "; only images of 1 to 255 are read, eight bits");
    const std::size_t size = i.width * i.height * i.channels;
    if (kind == '2' || kind == '3') {
      if (bytes_.size() - at_ < size) fail("ends early");  // each sample takes two characters, but for the last
      i.samples.reserve(size);
      for (std::size_t k = 0; k < size; ++k)
        i.samples.push_back(static_cast<std::uint8_t>(number("a sample", brightest)));
    } else {
      ++at_;  // one white space
      if (at_ > bytes_.size() || bytes_.size() - at_ < size)
        fail("has " + std::to_string(at_ > bytes_.size() ? 0 : bytes_.size() - at_) + " bytes of samples; " +
             std::to_string(i.width) + " x " + std::to_string(i.height) + " need " + std::to_string(size));
      i.samples.assign(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                       bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + size));
    }
    return i;
  }

 private:
  static constexpr std::size_t most_side = 1 << 20;

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(name_ + ", byte " + std::to_string(at_) + ": " + what);
  }
  std::size_t number(const char* what, std::size_t most) {
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      if (at_ < bytes_.size() && !is_space(bytes_[at_])) break;
    }
    const std::size_t begin = at_;
    std::size_t value = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<std::size_t>(bytes_[at_] - '0');
      if (value > most) fail(std::string(what) + " is more than " + std::to_string(most));
    }
    if (at_ == begin) fail("expected " + std::string(what) + ", found no number");
    return value;
  }

  std::string bytes_, name_;
  std::size_t at_ = 0;
};

// Throws std::invalid_argument if the file is no such file.
inline image read_netpbm(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::invalid_argument("--input " + path + ": cannot be opened");
  return netpbm_reader(std::string(std::istreambuf_iterator<char>(in), {}), path).read();
}

// Writes P5 or P6. Throws std::runtime_error if it cannot be written.
inline void write_netpbm(const std::string& path, const image& i) {
  std::ofstream out(path, std::ios::binary);
  out << (i.channels == 3 ? "P6" : "P5") << "\n" << i.width << " " << i.height << "\n255\n";
  out.write(reinterpret_cast<const char*>(i.samples.data()), static_cast<std::streamsize>(i.samples.size()));
  if (!out.flush()) throw std::runtime_error("--output " + path + ": cannot be written");
}

// Makes a grey image of n rows of `columns`: rings about the middle, and noise.
inline image ringed_image(std::size_t n, std::size_t columns) {
  constexpr std::size_t most = 1 << 20;
  if (n == 0 || n > most || columns == 0 || columns > most)
    throw std::invalid_argument("--n " + std::to_string(n) + ", --columns " + std::to_string(columns) +
                                ": an image has 1 to 2^20 rows and columns");
  image i{columns, n, 1, std::vector<std::uint8_t>(n * columns)};
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      const std::size_t a = 2 * x > columns ? 2 * x - columns : columns - 2 * x, b = 2 * y > n ? 2 * y - n : n - 2 * y;
      i.samples[y * columns + x] =
          static_cast<std::uint8_t>((a * a + b * b) * 16 / n % 192 + mix64(y * columns + x) % 64);
    }
  }
  return i;
}

}  // namespace heddle::bench
