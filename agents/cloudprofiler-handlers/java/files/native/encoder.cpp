#include "encoder.hpp"

#include <lzo/lzo1x.h>
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace handlers {
namespace {

constexpr int kZstdLevel = 1;
constexpr std::size_t kBlockBytes = kBlockEvents * sizeof(Event);
constexpr std::size_t kLzoRoom = kBlockBytes + kBlockBytes / 16 + 64 + 3;  // the most that LZO1X makes of it

struct FrameHead {
  std::uint32_t bytes;
  std::uint32_t stored;
};

[[noreturn]] void give_up(const char* what, const char* why) {
  std::fprintf(stderr, "handlers: %s: %s. The program ends, for its events would be lost.\n", what, why);
  std::fflush(stderr);
  std::_Exit(1);
}

}  // namespace

Encoder::Encoder(Encoding encoding) : encoding_(encoding) {
  if (encoding_ == Encoding::kZstd) {
    zstd_ = ZSTD_createCCtx();
    if (!zstd_) give_up("zstd", "no memory for its context");
    frame_.resize(sizeof(FrameHead) + ZSTD_compressBound(kBlockBytes));
  } else if (encoding_ == Encoding::kLzo1x) {
    if (lzo_init() != LZO_E_OK) give_up("lzo", "its library does not fit its header");
    lzo_.resize(LZO1X_1_MEM_COMPRESS);
    frame_.resize(sizeof(FrameHead) + kLzoRoom);
  }
}

Encoder::~Encoder() { ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(zstd_)); }

Encoder::Encoded Encoder::encode(const Block& block) {
  std::size_t size = block.events * sizeof(Event);
  if (encoding_ == Encoding::kPlain) return {block.data, size};
  unsigned char* to = frame_.data() + sizeof(FrameHead);
  std::size_t stored = compress(block.data, size, to, frame_.size() - sizeof(FrameHead));
  FrameHead head{static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(stored)};
  std::memcpy(frame_.data(), &head, sizeof head);
  return {frame_.data(), sizeof head + stored};
}

std::size_t Encoder::compress(const void* from, std::size_t size, unsigned char* to, std::size_t room) {
  if (encoding_ == Encoding::kZstd) {
    std::size_t made = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(zstd_), to, room, from, size, kZstdLevel);
    if (ZSTD_isError(made)) give_up("zstd", ZSTD_getErrorName(made));
    return made;
  }
  lzo_uint made = 0;
  int status = lzo1x_1_compress(static_cast<const unsigned char*>(from), size, to, &made, lzo_.data());
  if (status != LZO_E_OK) give_up("lzo", "a block could not be compressed");
  return made;
}

}  // namespace handlers
