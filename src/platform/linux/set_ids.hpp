#pragma once

namespace heddle::platform {

// setuid() and its kin have every kernel thread of the process make the system call, by a signal of glibc's own, whose
// handler tells the caller by what stands at the thread pointer. On a block of own thread-local storage that is not the
// kernel thread's: so the handler is run with the kernel thread's own, and nothing else interrupts it. To be called
// once glibc has its handler; again after that has been replaced.
void stand_before_set_ids() noexcept;

}  // namespace heddle::platform
