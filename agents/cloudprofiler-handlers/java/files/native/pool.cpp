#include "pool.hpp"

#include <pthread.h>

#include "encoder.hpp"

namespace handlers {

Pool::Pool(Encoding encoding, int threads) : encoding_(encoding) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work(); });
    pthread_setname_np(threads_.back().native_handle(), "handlers-pool");
  }
}

void Pool::take(Block* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(block);
  waiting_.notify_one();
}

void Pool::end() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    waiting_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Pool::work() {
  Encoder encoder(encoding_);
  for (;;) {
    Block* block;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      waiting_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      block = queue_.front();
      queue_.pop_front();
    }
    Encoder::Encoded encoded = encoder.encode(*block);
    block->channel->append_in_turn(block, encoded.data, encoded.size);
  }
}

}  // namespace handlers
