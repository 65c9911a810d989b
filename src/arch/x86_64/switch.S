// Context switch, x86-64 System V. Saved: rbx, rbp, r12-r15, the x87 control word and MXCSR.
//
// void heddle_switch(void** save_sp, void* load_sp, void (*after)(void*, void*), void* a, void* b)
//                    rdi             rsi            rdx                            rcx      r8
// Saves the caller, moves to the stack of load_sp, calls after(a, b) there, and continues that context.
// It ends with a ret, not with a jump. A jump would be predicted better here, but it leaves the return predictor one
// entry too deep, so that every return up the new context's chain of callers misses. After a ret, contexts suspended by
// the same code find the predictor in step. A context that starts is jumped to. When its entry has returned at its end,
// the predictor is where it was when the context started, which suits the code that started it
// (docs/investigations/switch.md).
//
// The floating-point environment: both control words are always stored, and loaded only when the new context's differ,
// because a load costs more. The caller saves the flags of exceptions, so they do not matter here; a load brings the
// new context's own flags.
    .text
    .p2align 4
    .globl heddle_switch
    .hidden heddle_switch
    .type heddle_switch, @function
heddle_switch:
    .cfi_startproc
    lea    -56(%rsp), %rsp
    .cfi_adjust_cfa_offset 56
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    mov    %r15, 8(%rsp)
    mov    %r14, 16(%rsp)
    mov    %r13, 24(%rsp)
    mov    %r12, 32(%rsp)
    mov    %rbx, 40(%rsp)
    mov    %rbp, 48(%rsp)
    .cfi_rel_offset %r15, 8
    .cfi_rel_offset %r14, 16
    .cfi_rel_offset %r13, 24
    .cfi_rel_offset %r12, 32
    .cfi_rel_offset %rbx, 40
    .cfi_rel_offset %rbp, 48
    mov    (%rsp), %r9d
    movzwl 4(%rsp), %r10d
    mov    %rsp, (%rdi)
.Ltake_over:                    // rsi, rdx, rcx, r8 as above; r9d: the present MXCSR, r10w: the present x87 control word
    xor    (%rsi), %r9d
    test   $-64, %r9d           // all but the flags
    jne    .Lload_control
    cmp    4(%rsi), %r10w
    jne    .Lload_control
.Lloaded:
    mov    %rsi, %rsp
    mov    %rcx, %rdi
    mov    %r8, %rsi
    call   *%rdx
    mov    8(%rsp), %r15
    mov    16(%rsp), %r14
    mov    24(%rsp), %r13
    mov    32(%rsp), %r12
    mov    40(%rsp), %rbx
    mov    48(%rsp), %rbp
    lea    heddle_start(%rip), %rax
    cmp    %rax, 56(%rsp)
    je     .Lfirst_run
    lea    56(%rsp), %rsp
    .cfi_adjust_cfa_offset -56
    .cfi_restore %r15
    .cfi_restore %r14
    .cfi_restore %r13
    .cfi_restore %r12
    .cfi_restore %rbx
    .cfi_restore %rbp
    ret
    .cfi_adjust_cfa_offset 56
.Lfirst_run:
    lea    64(%rsp), %rsp
    jmp    heddle_start
.Lload_control:
    fldcw  4(%rsi)
    ldmxcsr (%rsi)
    jmp    .Lloaded
    .cfi_endproc
    .size heddle_switch, . - heddle_switch

// void heddle_spawn(void** save_sp, void* stack_top, void (*after)(void*), void* a, void (*entry)(void*), void* argument)
//                   rdi             rsi              rdx                   rcx      r8                     r9
// Leaves the caller resumable at *save_sp, as heddle_switch does, moves to stack_top, calls after(a), then
// entry(argument). If entry returns, no thread has resumed the caller, and the caller goes on by an ordinary return,
// its registers untouched and the return predictor in step. If another thread has resumed the caller, entry does not
// return.
    .p2align 4
    .globl heddle_spawn
    .hidden heddle_spawn
    .type heddle_spawn, @function
heddle_spawn:
    .cfi_startproc
    lea    -56(%rsp), %rsp
    .cfi_adjust_cfa_offset 56
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    mov    %r15, 8(%rsp)
    mov    %r14, 16(%rsp)
    mov    %r13, 24(%rsp)
    mov    %r12, 32(%rsp)
    mov    %rbx, 40(%rsp)
    mov    %rbp, 48(%rsp)
    mov    %rsp, (%rdi)
    mov    %rsp, %rbx
    mov    %r8, %r12
    mov    %r9, %r13
    .cfi_def_cfa %rbx, 64
    .cfi_offset %r13, -40
    .cfi_offset %r12, -32
    .cfi_offset %rbx, -24
    .cfi_remember_state
    mov    %rsi, %rsp           // the child's stack ends here for unwinders: its spawner may go on elsewhere, and its frames with it
    .cfi_undefined %rip
    .cfi_def_cfa %rsp, 0
    mov    %rcx, %rdi
    call   *%rdx
    mov    %r13, %rdi
    call   *%r12
    mov    %rbx, %rsp
    .cfi_restore_state
    .cfi_def_cfa %rsp, 64
    mov    24(%rsp), %r13
    mov    32(%rsp), %r12
    mov    40(%rsp), %rbx
    lea    56(%rsp), %rsp
    .cfi_def_cfa %rsp, 8
    .cfi_restore %r13
    .cfi_restore %r12
    .cfi_restore %rbx
    ret
    .cfi_endproc
    .size heddle_spawn, . - heddle_spawn

// The first code of a new context: entry function in r12, its argument in r13. When it returns, heddle_depart(argument)
// says where to go: {stack pointer, after, a, b}. This marks the end of the stack for unwinders.
    .p2align 4
    .globl heddle_start
    .hidden heddle_start
    .type heddle_start, @function
heddle_start:
    .cfi_startproc
    .cfi_undefined %rip
    mov    %r13, %rdi
    xor    %ebp, %ebp
    call   *%r12
.Ldepart:
    mov    %r13, %rdi
    call   heddle_depart
    mov    (%rax), %rsi
    mov    8(%rax), %rdx
    mov    16(%rax), %rcx
    mov    24(%rax), %r8
    stmxcsr -8(%rsp)
    fnstcw -4(%rsp)
    mov    -8(%rsp), %r9d
    movzwl -4(%rsp), %r10d
    jmp    .Ltake_over
    .cfi_endproc
    .size heddle_start, . - heddle_start

// void heddle_end(void* argument): called instead of a return by a context that heddle_spawn has begun and whose
// spawner has gone on elsewhere. The context's stack is dead below this frame.
    .p2align 4
    .globl heddle_end
    .hidden heddle_end
    .type heddle_end, @function
heddle_end:
    .cfi_startproc
    .cfi_undefined %rip
    lea    -8(%rsp), %rsp
    mov    %rdi, %r13
    jmp    .Ldepart
    .cfi_endproc
    .size heddle_end, . - heddle_end
    .section .note.GNU-stack, "", @progbits
