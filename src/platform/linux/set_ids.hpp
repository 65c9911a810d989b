#pragma once

namespace heddle::platform {

// setuid() and its kin make every kernel thread of the process do the system call, by a signal of glibc's own, whose
// handler finds out who it is by what stands at the thread pointer. On a block of own thread-local storage that is not
// the kernel thread. So the handler is run with the thread pointer of the kernel thread, and nothing else interrupts it
// there. To be called once glibc has its handler; again after that has been replaced.
void stand_before_set_ids() noexcept;

}  // namespace heddle::platform
