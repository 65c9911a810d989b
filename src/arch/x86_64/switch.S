// Context switch, x86-64 System V. Saved: rbx, rbp, r12-r15, the x87 control word, and MXCSR when it may differ.
//
// void heddle_switch(void** save_sp, void* load_sp, void (*after)(void*, void*), void* a, void* b)
//                    rdi             rsi            rdx                            rcx      r8
// Saves the caller, moves to the stack of load_sp, calls after(a, b) there, and continues that context.
// A jump ends it, not a ret: the return predictor would guess the other context's caller every time.
//
// The floating-point environment: <cfenv> changes x87 and SSE control together, so a default x87 control word
// (a cheap store) vouches for a default MXCSR (whose store costs more than the rest of the switch). Bits that
// exist in MXCSR alone (flush to zero, denormals are zero) belong to the carrier; see README.md.
    .text
    .p2align 4
    .globl heddle_switch
    .hidden heddle_switch
    .type heddle_switch, @function
heddle_switch:
    .cfi_startproc
    lea    -56(%rsp), %rsp
    .cfi_adjust_cfa_offset 56
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
    movzwl 4(%rsp), %r9d
    cmp    $0x037f, %r9w
    jne    .Lsave_mxcsr
.Lsaved:
    mov    %rsp, (%rdi)
    cmp    4(%rsi), %r9w
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
    mov    56(%rsp), %rcx
    lea    64(%rsp), %rsp
    .cfi_adjust_cfa_offset -64
    .cfi_register %rip, %rcx
    .cfi_restore %r15
    .cfi_restore %r14
    .cfi_restore %r13
    .cfi_restore %r12
    .cfi_restore %rbx
    .cfi_restore %rbp
    jmp    *%rcx
    .cfi_adjust_cfa_offset 64
    .cfi_offset %rip, -8
.Lsave_mxcsr:
    stmxcsr (%rsp)
    xor    $0x8000, %r9d        // not the default: the compare below must fail, so that MXCSR is loaded too
    jmp    .Lsaved
.Lload_control:
    fldcw  4(%rsi)
    cmpw   $0x037f, 4(%rsi)
    je     .Lload_default
    ldmxcsr (%rsi)
    jmp    .Lloaded
.Lload_default:
    ldmxcsr .Ldefault_mxcsr(%rip)
    jmp    .Lloaded
    .cfi_endproc
    .size heddle_switch, . - heddle_switch

// First code of a new context: entry function in r12, its argument in r13. Marks the end of the stack for unwinders.
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
    ud2
    .cfi_endproc
    .size heddle_start, . - heddle_start

    .section .rodata
    .p2align 2
.Ldefault_mxcsr:
    .long 0x1f80
    .section .note.GNU-stack, "", @progbits
