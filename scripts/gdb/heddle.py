"""gdb commands for user-level threads of heddle, in a live process or a core.

    heddle threads [-all]   user-level threads: number, name, what each does, where
    heddle bt N [ARGS]      the stack of thread N; ARGS are those of bt (full, 5, -3 ...)
    heddle in N COMMAND     any command in the view of thread N, whose frames are 1 and up: heddle in 3 frame 4

Numbers are those that heddle prints itself (HEDDLE_WATCHDOG, HEDDLE_SIGNAL_STACKS). Nothing in the process is changed. The library needs no debugging
information: what this reads is described by its symbol heddle_debug (src/fiber/debug_layout.cpp).
"""
import re
import struct

import gdb
import gdb.unwinder

# Registers in the frame that a switch leaves on the stack, by offset; where the caller's stack goes on (src/arch/*/layout.hpp).
FRAMES = {
    "x86-64": ("rsp", "rip", {"r15": 8, "r14": 16, "r13": 24, "r12": 32, "rbx": 40, "rbp": 48, "rip": 56}, 64),
    "aarch64": ("sp", "pc", {**{"x%d" % (19 + i): 8 * i for i in range(12)}, "pc": 88, **{"d%d" % (8 + i): 96 + 8 * i for i in range(8)}}, 176),
}

FIELDS = ("version", "pools", "most_pools", "slabs", "slab_count", "slab_size", "slab_memory", "slab_bytes", "slab_used", "slab_class",
          "smallest", "block_size", "block_align", "colours", "colour_step",
          "stack", "stack_pointer", "name", "waits_for", "id", "stack_low")


def architecture():
    name = gdb.newest_frame().architecture().name()
    for known in FRAMES:
        if known in name:
            return FRAMES[known]
    raise gdb.GdbError("heddle: no user-level threads on " + name)


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def word(address):
    return struct.unpack("<Q", read(address, 8))[0]


def text(address):
    """The C string at an address, or None."""
    if address == 0:
        return None
    result = b""
    try:
        while len(result) < 200:
            byte = read(address + len(result), 1)
            if byte == b"\0":
                return result.decode(errors="replace")
            result += byte
    except gdb.MemoryError:
        pass
    return result.decode(errors="replace") or None


class Layout:
    def __init__(self):
        try:
            address = int(gdb.parse_and_eval("(unsigned long) &heddle_debug"))
        except gdb.error:
            raise gdb.GdbError("heddle: the program has no symbol heddle_debug; it is not linked with heddle, or with one older than this script")
        for index, field in enumerate(FIELDS):
            setattr(self, field, word(address + 8 * index))
        if self.version != 2:
            raise gdb.GdbError("heddle: the library describes itself in form %d; use the script that came with it" % self.version)


class Thread:
    def __init__(self, layout, block, number):
        self.number = number
        self.block = block  # at the top of its stack
        self.low = word(block + layout.stack_low)
        own = word(block + layout.stack)  # where else it describes itself: made without a stack, and lent this one
        self.stack_pointer = word(own + layout.stack_pointer)
        self.name = text(word(own + layout.name))
        self.waits_for = text(word(own + layout.waits_for))
        self.runs_on = None  # gdb's thread

    def begun(self):
        return self.low <= self.stack_pointer < self.block and self.stack_pointer % 8 == 0

    def state(self):
        if self.runs_on is not None:
            return "runs on thread %d of gdb (LWP %d)" % (self.runs_on.num, self.runs_on.ptid[1])
        if self.waits_for is not None:
            return "waits for: " + self.waits_for
        return "ready, or free"


def blocks(layout):
    """Address and number of every control block; of a second runtime the number begins with 2/."""
    pools = [word(layout.pools + 8 * i) for i in range(layout.most_pools)]
    for which, pool in enumerate([p for p in pools if p != 0], 1):
        slabs, count = word(pool + layout.slabs), word(pool + layout.slab_count)
        for i in range(count):
            slab = slabs + i * layout.slab_size
            memory, used = word(slab + layout.slab_memory), word(slab + layout.slab_used)
            of_class = struct.unpack("<I", read(slab + layout.slab_class, 4))[0]
            stack = layout.smallest << of_class
            for low in range(memory, memory + used, stack):
                colour = low // stack % layout.colours * layout.colour_step
                block = (low + stack - layout.block_size - colour) // layout.block_align * layout.block_align
                try:
                    own = word(block + layout.stack)
                    number = word(own + layout.id) if own != 0 else 0
                except gdb.MemoryError:
                    continue  # not in the core
                if number != 0:
                    yield block, str(number) if which == 1 else "%d/%d" % (which, number)


def threads(everything=False):
    layout = Layout()
    stack_register = architecture()[0]
    all_of_them = [Thread(layout, block, number) for block, number in blocks(layout)]
    by_stack = sorted((t.low, t) for t in all_of_them if t.low != 0) if all_of_them else []
    chosen = gdb.selected_thread()
    try:
        for kernel in gdb.selected_inferior().threads():
            kernel.switch()
            at = int(gdb.newest_frame().read_register(stack_register))
            for low, t in by_stack:
                if low <= at < t.block:
                    t.runs_on = kernel
                    break
    finally:
        if chosen is not None:
            chosen.switch()
    return [t for t in all_of_them if everything or t.runs_on is not None or t.waits_for is not None]


class View(gdb.unwinder.Unwinder):
    """While it has a target, the caller of the innermost frame is where that thread was suspended: cores have no registers that could be written."""

    def __init__(self):
        super().__init__("heddle view")
        self.target = None
        self.innermost = None
        self.registers = None

    def __call__(self, frame):
        if self.target is None:
            return None
        stack, counter, registers, size = self.registers  # not asked for here: that would look for frames, and come back
        at = (int(frame.read_register(stack)), int(frame.read_register(counter)))
        if at != self.innermost:
            return None
        base = self.target.stack_pointer
        unsigned = gdb.lookup_type("unsigned long")

        class Identity:
            # Below the thread's frames, or gdb would say that its stack goes backwards.
            sp = gdb.Value(base - 16).cast(unsigned)
            pc = frame.read_register(counter)

        info = frame.create_unwind_info(Identity())
        for name, offset in registers.items():
            info.add_saved_register(name, gdb.Value(word(base + offset)).cast(frame.read_register(name).type if name != counter else unsigned))
        info.add_saved_register(stack, gdb.Value(base + size).cast(unsigned))
        return info

    def __enter__(self):
        return self

    def show(self, target):
        gdb.newest_frame().select()
        self.registers = architecture()
        stack, counter = self.registers[:2]
        frame = gdb.newest_frame()
        self.innermost = (int(frame.read_register(stack)), int(frame.read_register(counter)))
        self.target = target
        gdb.invalidate_cached_frames()
        return self

    def __exit__(self, *_):
        self.target = None
        gdb.invalidate_cached_frames()


view = View()
gdb.unwinder.register_unwinder(None, view, replace=True)


def of_heddle(name):
    return name is None or name.startswith(("heddle::", "heddle_", "_ZN6heddle", "_ZNK6heddle"))


def where(t):
    """The innermost function that is not heddle's."""
    if not t.begun():
        return "has not begun"
    with view.show(t):
        frame = gdb.newest_frame().older()
        for _ in range(40):
            if frame is None or not frame.is_valid():
                return ""
            if not of_heddle(frame.name()):
                line = frame.find_sal()
                at = " at %s:%d" % (line.symtab.filename.rsplit("/", 1)[-1], line.line) if line.symtab is not None else ""
                name = frame.name().replace("(anonymous namespace)::", "")
                return "in " + (name if len(name) <= 60 else name[:57] + "...") + at
            frame = frame.older()
    return ""


def find(number):
    for t in threads(True):
        if t.number == number:
            return t
    raise gdb.GdbError("heddle: no thread %s; `heddle threads` lists them" % number)


def in_view(t, command):
    if t.runs_on is not None:
        chosen = gdb.selected_thread()
        t.runs_on.switch()
        try:
            return gdb.execute(command, to_string=True)
        finally:
            chosen.switch()
    if not t.begun():
        raise gdb.GdbError("heddle: thread %s has no frames: it has not begun, or it is free" % t.number)
    with view.show(t):
        return gdb.execute(command, to_string=True)


def complete(argument, what):
    if not argument:
        raise gdb.GdbError("heddle: %s" % what)
    return argument.split(None, 1)


class Heddle(gdb.Command):
    """User-level threads of heddle: heddle threads, heddle bt N, heddle in N COMMAND."""

    def __init__(self):
        super().__init__("heddle", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class Threads(gdb.Command):
    """Lists the user-level threads that run or wait. -all: those that are ready, too, and control blocks that are free."""

    def __init__(self):
        super().__init__("heddle threads", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for t in threads(argument.strip() == "-all"):
            place = where(t) if t.runs_on is None and t.waits_for is not None else ""
            print("%6s  %-20s %s%s" % (t.number, t.name or "(unnamed)", t.state(), "  " + place if place else ""))


class Backtrace(gdb.Command):
    """heddle bt N [ARGS]: the stack of a user-level thread."""

    def __init__(self):
        super().__init__("heddle bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        number, *rest = complete(argument, "which thread? `heddle threads` lists them")
        t = find(number)
        print("thread %s (%s) %s" % (t.number, t.name or "unnamed", t.state()))
        said = in_view(t, "bt " + " ".join(rest))
        if t.runs_on is None:  # without frame 0, which is gdb's own place
            cut = re.search(r"^#1 ", said, re.MULTILINE)
            said = said[cut.start():] if cut else ""
            said = re.sub(r"^#(\d+)( *)", lambda m: ("#%d" % (int(m.group(1)) - 1)).ljust(len(m.group(0))), said, flags=re.MULTILINE)
        print(said, end="")


class In(gdb.Command):
    """heddle in N COMMAND: a command in the view of a user-level thread, whose innermost frame is number 1."""

    def __init__(self):
        super().__init__("heddle in", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        number, *rest = complete(argument, "heddle in N COMMAND")
        print(in_view(find(number), rest[0] if rest else "bt"), end="")


Heddle()
Threads()
Backtrace()
In()
