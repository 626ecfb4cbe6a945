// Makes a frame of a block: its length, its length as it is stored, and so many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "channel.hpp"

namespace handlers {

class Encoder {
 public:
  explicit Encoder(Encoding encoding);
  ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // What is written of a block, valid until the next one is encoded; plain events have no frame.
  struct Encoded {
    const void* data;
    std::size_t size;
  };
  Encoded encode(const Block& block);

 private:
  std::size_t compress(const void* from, std::size_t size, unsigned char* to, std::size_t room);

  Encoding encoding_;
  void* zstd_ = nullptr;
  std::vector<unsigned char> lzo_;
  std::vector<unsigned char> frame_;
};

}  // namespace handlers
