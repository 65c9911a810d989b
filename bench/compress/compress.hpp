// A file is compressed: blocks of it are read by a serial stage, compressed by zlib and digested by OpenSSL (SHA-256)
// in a parallel one, and written to another file, with a digest of all digests, by a serial one in order. n is its size
// in MB; the program makes it, of words that are as frequent as those of a language. Milliseconds for the whole file.
#pragma once

#include <openssl/evp.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/common.hpp"
#include "harness/kernel.hpp"
#include "harness/random.hpp"

namespace heddle::bench {

struct compress {
  static constexpr std::size_t default_n = 200;
  static constexpr std::size_t block_bytes = 256 * 1024;
  template <class Backend>
  static constexpr bool supports = Backend::pipelines;

  [[noreturn]] static void fail(const char* what) {
    std::perror(what);
    std::exit(1);
  }
  struct closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  using file = std::unique_ptr<std::FILE, closer>;
  static file open(const std::string& path, const char* mode) {
    file f(std::fopen(path.c_str(), mode));
    if (f == nullptr) fail(path.c_str());
    return f;
  }

  // Two files in the temporary folder, which are gone at the end.
  struct files {
    std::string in, out;
    files() {
      const std::string stem = std::filesystem::temp_directory_path() / ("heddle-compress-" + std::to_string(getpid()));
      in = stem + ".txt";
      out = stem + ".z";
    }
    ~files() {
      std::filesystem::remove(in);
      std::filesystem::remove(out);
    }
    files(const files&) = delete;
    files& operator=(const files&) = delete;
  };

  // The k-th of 2^12 words is about as frequent as 1 / k.
  static void write_text(const std::string& path, std::size_t bytes) {
    const file f = open(path, "wb");
    std::string line;
    std::uint64_t state = 1;
    for (std::size_t written = 0; written < bytes; written += line.size()) {
      line.clear();
      while (line.size() < 72) {
        state = mix64(state);
        const std::uint64_t most = std::uint64_t{1} << (1 + state % 12);
        const std::uint64_t letters = mix64(state / 16 % most + 7777);
        for (std::uint64_t i = 0; i < 2 + letters % 8; ++i)
          line += static_cast<char>('a' + (letters >> (8 + 5 * i)) % 26);
        line += ' ';
      }
      line.back() = '\n';
      if (std::fwrite(line.data(), 1, line.size(), f.get()) != line.size()) fail(path.c_str());
    }
  }

  using sha = std::array<unsigned char, 32>;
  static sha digest_of(const unsigned char* data, std::size_t bytes) {
    sha d;
    unsigned length = 0;
    if (EVP_Digest(data, bytes, d.data(), &length, EVP_sha256(), nullptr) != 1) fail("SHA-256");
    return d;
  }

  struct block {
    std::vector<unsigned char> plain = std::vector<unsigned char>(block_bytes);
    std::vector<unsigned char> packed = std::vector<unsigned char>(compressBound(block_bytes));
    std::size_t plain_bytes{0}, packed_bytes{0};
    sha digest{};
  };

  static block* pack(block* b) {
    uLongf length = b->packed.size();
    if (compress2(b->packed.data(), &length, b->plain.data(), b->plain_bytes, 6) != Z_OK) fail("zlib");
    b->packed_bytes = length;
    b->digest = digest_of(b->packed.data(), length);
    return b;
  }

  template <class Backend>
  static std::uint64_t flow(const files& names, std::vector<block>& blocks) {
    const file in = open(names.in, "rb"), out = open(names.out, "wb");
    std::size_t next = 0;
    digest all;
    Backend::pipe(
        blocks.size(),
        [&]() -> std::optional<block*> {
          // Items leave in order, so the block of the item that came a whole round before is free.
          block& b = blocks[next++ % blocks.size()];
          b.plain_bytes = std::fread(b.plain.data(), 1, block_bytes, in.get());
          return b.plain_bytes != 0 ? std::optional(&b) : std::nullopt;
        },
        [](block* b) { return pack(b); },
        [&](block* b) {
          if (std::fwrite(b->packed.data(), 1, b->packed_bytes, out.get()) != b->packed_bytes) fail(names.out.c_str());
          for (const unsigned char byte : b->digest) all.add(byte);
        });
    return all.value();
  }

  template <class Backend>
  static void execute(context& c) {
    const files names;
    write_text(names.in, c.n() * 1'000'000);
    std::vector<block> blocks(std::size_t{4} * c.options().workers);
    std::uint64_t sum = 0;
    Backend backend(c.options());
    backend.run(
        [&] { c.measure("file", "ms", 1e3, [] {}, [&] { sum = flow<Backend>(names, blocks); }, [&] { return sum; }); });
  }
};

}  // namespace heddle::bench
